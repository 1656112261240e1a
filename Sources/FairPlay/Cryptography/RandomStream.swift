import LatchkeyCore

/// Random numbers in bulk from 32 bytes of a caller's generator: AES under a random key.
///
/// A CKC wants some 200 random bytes for order and padding. Drawing them 8 at a time from the system is a system call
/// each, which would cost more than all of the exchange but RSA. The same caller's generator gives the same stream.
package struct RandomStream: RandomNumberGenerator {
    private let cipher: SharedCipher
    private let key: ErasedBytes
    private var buffer = [UInt8](repeating: 0, count: 256)
    private var position = 0

    /// - Parameter generator: asked for 4 numbers.
    package init(from generator: inout some RandomNumberGenerator) throws(OpenSSLError) {
        cipher = try SharedCipher()
        key = ErasedBytes(count: 16)
        var start = (generator.next(), generator.next())
        key.write(0..<16) { key in
            key.storeBytes(of: generator.next(), toByteOffset: 0, as: UInt64.self)
            key.storeBytes(of: generator.next(), toByteOffset: 8, as: UInt64.self)
        }
        withUnsafeBytes(of: &start) { buffer.replaceSubrange(0..<16, with: $0) }
        try refill()
    }

    package mutating func next() -> UInt64 {
        // A refill fails only when libcrypto ran out of memory; the old numbers then come again, in padding only.
        if position + 8 > buffer.count { try? refill() }
        defer { position += 8 }
        return buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: position, as: UInt64.self) }
    }

    private mutating func refill() throws(OpenSSLError) {
        position = 0
        try key.read(0..<16) { key throws(OpenSSLError) in
            try cipher.cipher.apply(.encrypt, to: &buffer, key: key)
        }
    }

    /// Lets copies of the stream share the one cipher context; each copy is used by one task.
    private final class SharedCipher {
        let cipher: AESCBC
        init() throws(OpenSSLError) { cipher = try AESCBC() }
    }
}
