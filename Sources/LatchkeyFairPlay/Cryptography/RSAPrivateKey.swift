internal import COpenSSL
import Foundation
package import LatchkeyCore

/// An RSA private key, parsed once. Safe for concurrent use from any number of threads.
// Sound because the key is immutable to its users (libcrypto locks its caches in it) and each context serves one call at a time.
// `KeyServerCredentialTests` decrypts on many tasks.
package final class RSAPrivateKey: @unchecked Sendable {
    private let key: OpaquePointer
    /// Initialized contexts that are not in use, so that a decryption can reuse one.
    private let contexts = Locked<[UnsafeSendableContext]>([])
    /// The key for `RSABatch`, made for its first batch; the inner value is `nil` if the batch does not support the key.
    private let laneKey = Locked<RSALaneKey??>(nil)

    /// - Parameter pem: PKCS#8 or PKCS#1, not encrypted.
    /// - Returns: `nil` for anything but an RSA private key.
    package init?(pem: [UInt8]) {
        guard let key = Self.read(pem) else {
            OpenSSLError.discardQueue()
            return nil
        }
        self.key = key
    }

    /// Makes a new key pair with libcrypto's randomness.
    package init(bits: Int) throws(OpenSSLError) {
        guard let key = latchkey_rsa_generate(bits) else { throw OpenSSLError(in: "EVP_PKEY_Q_keygen") }
        self.key = key
    }

    deinit {
        contexts.withLock { for context in $0 { EVP_PKEY_CTX_free(context.pointer) } }
        EVP_PKEY_free(key)
    }

    /// The size of the modulus.
    package var bits: Int { Int(EVP_PKEY_get_bits(key)) }

    /// The key for a lane of `RSABatch`; `nil` if its size or form is unsupported.
    var forLane: RSALaneKey? {
        laneKey.withLock { known in
            if let known { return known }
            let made = RSALaneKey(key)
            known = .some(made)
            return made
        }
    }

    /// Calls a closure with libcrypto's key.
    func withKey<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        defer { withExtendedLifetime(self) {} }
        return body(key)
    }

    /// Decrypts OAEP with SHA-1 for hash and mask and an empty label.
    /// - Returns: the plaintext; `nil` on any failure, because distinguishing causes would help an attacker.
    package func decryptOAEP(_ wrapped: ArraySlice<UInt8>) -> Secret? {
        guard let context = takeContext() else {
            OpenSSLError.discardQueue()
            return nil
        }
        defer { contexts.withLock { $0.append(UnsafeSendableContext(pointer: context)) } }
        let plain = ErasedBytes(count: Int(EVP_PKEY_get_size(key)))
        var count = plain.count
        let isOpen = wrapped.withUnsafeBufferPointer { wrapped in
            plain.write(0..<plain.count) { plain in
                EVP_PKEY_decrypt(
                    context, plain.assumingMemoryBound(to: UInt8.self).baseAddress, &count, wrapped.baseAddress,
                    wrapped.count)
            }
        }
        guard isOpen == 1, count <= plain.count else {
            OpenSSLError.discardQueue()
            return nil
        }
        return plain.read(0..<count) { Secret($0) }
    }

    /// The key in PKCS#8 PEM form, not encrypted.
    package func pem() throws(OpenSSLError) -> Secret {
        guard let bio = MemoryBIO(), PEM_write_bio_PKCS8PrivateKey(bio.pointer, key, nil, nil, 0, nil, nil) == 1 else {
            throw OpenSSLError(in: "PEM_write_bio_PKCS8PrivateKey")
        }
        return bio.withContents { Secret($0) }
    }

    private func takeContext() -> OpaquePointer? {
        if let ready = contexts.withLock({ $0.popLast() }) { return ready.pointer }
        guard let context = EVP_PKEY_CTX_new(key, nil) else { return nil }
        guard EVP_PKEY_decrypt_init(context) == 1, latchkey_rsa_use_oaep_sha1(context) == 1 else {
            EVP_PKEY_CTX_free(context)
            return nil
        }
        return context
    }

    private static func read(_ pem: [UInt8]) -> OpaquePointer? {
        // The callback refuses to give a password, so that libcrypto does not ask on the terminal.
        guard let bio = MemoryBIO(pem), let key = PEM_read_bio_PrivateKey(bio.pointer, nil, { _, _, _, _ in -1 }, nil)
        else { return nil }
        guard latchkey_is_rsa(key) == 1 else {
            EVP_PKEY_free(key)
            return nil
        }
        return key
    }

    private struct UnsafeSendableContext: @unchecked Sendable {
        let pointer: OpaquePointer
    }
}
