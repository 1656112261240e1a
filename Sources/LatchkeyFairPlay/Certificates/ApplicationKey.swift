package import LatchkeyCore

/// The private key of an application certificate, wherever it is kept: it opens payload keys and shows nothing of itself.
///
/// libcrypto's `RSAPrivateKey` is one; a key in a PKCS#11 token another. Any number of threads can use one at the same time.
///
/// Source: `Documentation/FairPlay.md` §8, step 5.
package protocol ApplicationKey: Sendable {
    /// Decrypts OAEP with SHA-1 for hash and mask and an empty label. May block; call it outside the cooperative pool.
    /// - Returns: the plaintext; `nil` for whatever the key does not open, because distinguishing causes would help an attacker.
    /// - Throws: an error if the key cannot be used now, whatever it is given, such as a token that was removed.
    func decryptOAEP(_ wrapped: ArraySlice<UInt8>) throws -> Secret?
}

extension RSAPrivateKey: ApplicationKey {}
