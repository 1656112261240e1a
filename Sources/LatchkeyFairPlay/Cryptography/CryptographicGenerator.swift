internal import COpenSSL
package import LatchkeyCore

/// The random number generator for production. It fetches 1 KiB at a time from libcrypto.
///
/// `SystemRandomNumberGenerator` makes a system call for every 8 bytes; with this generator, randomness costs a fortieth of a
/// microsecond per CKC. It is a class, so that no copy repeats the same numbers, and not `Sendable`: use one per thread.
public final class CryptographicGenerator: RandomNumberGenerator {
    private var buffer = [UInt8](repeating: 0, count: 1024)
    private var position = 1024

    /// Makes a generator. It gets its first bytes on the first call.
    public init() {}

    deinit { erase(&buffer) }

    public func next() -> UInt64 {
        if position + 8 > buffer.count {
            guard RAND_bytes(&buffer, Int32(buffer.count)) == 1 else {
                OpenSSLError.discardQueue()
                // libcrypto has no randomness. The system's generator is slower but equally good.
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

extension Secret {
    /// New random bytes, from libcrypto.
    package static func random(_ count: Int) -> Secret {
        var generator = CryptographicGenerator()
        var bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        defer { erase(&bytes) }
        return Secret(bytes)
    }
}
