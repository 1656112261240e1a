internal import COpenSSL
import LatchkeyCore

/// A private key in the form that `RSABatch` needs: its numbers in memory that is erased, and the public operation for checking results.
// Sound because the numbers never change, and each context serves one call at a time. `RSABatchTests` decrypts on many tasks.
final class RSALaneKey: @unchecked Sendable {
    private struct UnsafeSendableContext: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    /// p, q, d mod p − 1, d mod q − 1 and q⁻¹ mod p, each half as long as the modulus and little-endian.
    let numbers: ErasedBytes
    /// Big-endian.
    private let modulus: [UInt8]
    private let key: OpaquePointer
    /// Initialized contexts of the public operation that are not in use.
    private let contexts = Locked<[UnsafeSendableContext]>([])

    /// The parts of `numbers`, in their order, by libcrypto's names.
    static let names = ["rsa-factor1", "rsa-factor2", "rsa-exponent1", "rsa-exponent2", "rsa-coefficient1"]
    private static let sizes: Set<Int> = [128, 256, 384, 512]

    /// - Parameter key: an RSA private key. The object keeps a reference to it.
    /// - Returns: `nil` unless it has 1024, 2048, 3072 or 4096 bits, and two primes of half that length, the greater one first.
    init?(_ key: OpaquePointer) {
        let size = Int(EVP_PKEY_get_size(key))
        guard Self.sizes.contains(size), Int(EVP_PKEY_get_bits(key)) == size * 8, Self.hasTwoPrimes(key) else {
            return nil
        }
        let half = size / 2
        let numbers = ErasedBytes(count: half * Self.names.count)
        var modulus = [UInt8](repeating: 0, count: size)
        let isWhole = zip(0..., Self.names).allSatisfy { place, name in
            numbers.write(place * half..<(place + 1) * half) { bytes in
                latchkey_key_words(
                    key, name, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(half)) == 1
            }
        }
        let isDescending = numbers.read(0..<2 * half) { bytes in
            bytes[half...].reversed().lexicographicallyPrecedes(bytes[..<half].reversed())
        }
        guard isWhole, isDescending, latchkey_key_number(key, "n", &modulus, size) == size,
            EVP_PKEY_up_ref(key) == 1
        else {
            OpenSSLError.discardQueue()
            return nil
        }
        (self.numbers, self.modulus, self.key) = (numbers, modulus, key)
    }

    deinit {
        contexts.withLock { for context in $0 { EVP_PKEY_CTX_free(context.pointer) } }
        EVP_PKEY_free(key)
    }

    /// The size of the modulus in bytes.
    var size: Int { modulus.count }

    /// Whether a ciphertext could belong to this key: as long as the modulus, and smaller.
    func fits(_ text: ArraySlice<UInt8>) -> Bool {
        text.count == size && text.lexicographicallyPrecedes(modulus)
    }

    /// Whether the public operation on a result gives the ciphertext again. A wrong result would reveal the key's primes.
    func isRight(_ result: UnsafePointer<UInt8>, for text: ArraySlice<UInt8>) -> Bool {
        guard let context = takeContext() else {
            OpenSSLError.discardQueue()
            return false
        }
        defer { contexts.withLock { $0.append(UnsafeSendableContext(pointer: context)) } }
        var (again, count) = ([UInt8](repeating: 0, count: size), size)
        guard EVP_PKEY_encrypt(context, &again, &count, result, size) == 1 else {
            OpenSSLError.discardQueue()
            return false
        }
        return again[...] == text
    }

    private func takeContext() -> OpaquePointer? {
        if let ready = contexts.withLock({ $0.popLast() }) { return ready.pointer }
        guard let context = EVP_PKEY_CTX_new(key, nil) else { return nil }
        guard EVP_PKEY_encrypt_init(context) == 1, EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1 else {
            EVP_PKEY_CTX_free(context)
            return nil
        }
        return context
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
