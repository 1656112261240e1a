internal import COpenSSL

/// The generator for production: libcrypto's, drawn 1 KiB at a time.
///
/// `SystemRandomNumberGenerator` makes a system call for every 8 bytes; with this one a CKC's share is a fortieth of a
/// microsecond. A class, so that no copy gives the same numbers again, and not `Sendable`: keep one per thread.
public final class CryptographicGenerator: RandomNumberGenerator {
    private var buffer = [UInt8](repeating: 0, count: 1024)
    private var position = 1024

    /// Makes a generator; it draws when it is first asked.
    public init() {}

    deinit { erase(&buffer) }

    public func next() -> UInt64 {
        if position + 8 > buffer.count {
            guard RAND_bytes(&buffer, Int32(buffer.count)) == 1 else {
                OpenSSLError.discardQueue()
                // No randomness from libcrypto: the system's own is slower and as good.
                return UInt64.random(in: .min ... .max)
            }
            position = 0
        }
        defer { position += 8 }
        return buffer.withUnsafeMutableBytes { bytes in
            defer { bytes.storeBytes(of: 0, toByteOffset: position, as: UInt64.self) }
            return bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        }
    }
}
