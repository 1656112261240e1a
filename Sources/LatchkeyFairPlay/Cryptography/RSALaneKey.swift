internal import COpenSSL
import LatchkeyCore

/// A private key in the form that `RSABatch` needs: its numbers in memory that is erased.
final class RSALaneKey: Sendable {
    /// p, q, d mod p − 1, d mod q − 1 and q⁻¹ mod p, each half as long as the modulus, then the modulus; little-endian.
    let numbers: ErasedBytes
    /// Big-endian.
    private let modulus: [UInt8]

    /// The parts of `numbers`, in their order, by libcrypto's names.
    static let names = ["rsa-factor1", "rsa-factor2", "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1", "n"]
    /// The length of `numbers`, in halves of the modulus.
    static let halves = names.count + 1
    private static let sizes: Set<Int> = [128, 256, 384, 512]

    /// - Parameter key: an RSA private key.
    /// - Returns: `nil` unless it has 1024, 2048, 3072 or 4096 bits, two primes of half that length, the greater one first, and the public
    ///   exponent 65,537.
    init?(_ key: OpaquePointer) {
        let size = Int(EVP_PKEY_get_size(key))
        guard Self.sizes.contains(size), Int(EVP_PKEY_get_bits(key)) == size * 8, Self.hasTwoPrimes(key) else {
            return nil
        }
        let half = size / 2
        let numbers = ErasedBytes(count: half * Self.halves)
        var modulus = [UInt8](repeating: 0, count: size)
        let isWhole = zip(0..., Self.names).allSatisfy { place, name in
            numbers.write(place * half..<(name == "n" ? numbers.count : (place + 1) * half)) { bytes in
                latchkey_key_words(
                    key, name, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(bytes.count)) == 1
            }
        }
        var exponent = [UInt8](repeating: 0, count: 8)
        let isDescending = numbers.read(0..<2 * half) { bytes in
            bytes[half...].reversed().lexicographicallyPrecedes(bytes[..<half].reversed())
        }
        guard isWhole, isDescending, latchkey_key_number(key, "n", &modulus, size) == size,
            latchkey_key_words(key, "e", &exponent, 8) == 1, exponent == [1, 0, 1, 0, 0, 0, 0, 0]
        else {
            OpenSSLError.discardQueue()
            return nil
        }
        (self.numbers, self.modulus) = (numbers, modulus)
    }

    /// The size of the modulus in bytes.
    var size: Int { modulus.count }

    /// Whether a ciphertext could belong to this key: as long as the modulus, and smaller.
    func fits(_ text: ArraySlice<UInt8>) -> Bool {
        text.count == size && text.lexicographicallyPrecedes(modulus)
    }

    /// Whether the key has exactly two primes. The five numbers do not describe a key with three.
    private static func hasTwoPrimes(_ key: OpaquePointer) -> Bool {
        var third: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, "rsa-factor3", &third) == 1 else {
            OpenSSLError.discardQueue()
            return true
        }
        BN_clear_free(third)
        return false
    }
}
