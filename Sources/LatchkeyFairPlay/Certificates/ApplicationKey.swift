package import LatchkeyCore

/// The private key of an application certificate: it decrypts payload keys and never exposes its own numbers.
///
/// The key may be held by libcrypto (`RSAPrivateKey`) or by a PKCS#11 token. Safe for concurrent use from any number of threads.
///
/// Source: `Documentation/FairPlay.md` §8, step 5.
package protocol ApplicationKey: Sendable {
    /// Decrypts OAEP with SHA-1 for hash and mask and an empty label. May block; call it outside the cooperative pool.
    /// - Returns: the plaintext; `nil` if decryption fails, because distinguishing causes would help an attacker.
    /// - Throws: an error if the key is unavailable, for example because its token was removed.
    func decryptOAEP(_ wrapped: ArraySlice<UInt8>) throws -> Secret?
}

extension RSAPrivateKey: ApplicationKey {}
