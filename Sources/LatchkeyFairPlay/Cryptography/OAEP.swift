/// The OAEP encoding with SHA-1 for hash and mask, an empty label, and a seed that the caller chooses.
///
/// libcrypto chooses a random seed, which would make the simulated device's SPCs irreproducible.
///
/// Source: RFC 8017 §7.1.1 and §B.2.1.
package enum OAEP {
    /// Encodes a message for RSA.
    /// - Parameters:
    ///   - message: at most `count` − 42 bytes.
    ///   - count: the size of the modulus in bytes.
    ///   - seed: 20 bytes.
    /// - Returns: `count` bytes; `nil` if the lengths do not fit.
    package static func encode(_ message: [UInt8], count: Int, seed: [UInt8]) throws(OpenSSLError) -> [UInt8]? {
        guard seed.count == 20, message.count <= count - 42 else { return nil }
        let zeros = [UInt8](repeating: 0, count: count - 42 - message.count)
        let block = try MessageDigest.sha1([]) + zeros + [1] + message
        let maskedBlock = try masked(block, by: seed)
        return [0] + (try masked(seed, by: maskedBlock)) + maskedBlock
    }

    /// A text XOR the MGF1 mask of a seed.
    private static func masked(_ text: [UInt8], by seed: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        var mask: [UInt8] = []
        var counter: UInt32 = 0
        while mask.count < text.count {
            mask += try MessageDigest.sha1(seed + counter.bigEndianBytes)
            counter += 1
        }
        return zip(text, mask).map { $0 ^ $1 }
    }
}
