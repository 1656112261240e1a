import LatchkeyCore

/// The key of a CKC's payload: `E(SHA-1(R1)[0,16), seed)`, with R1 and the anti-replay seed of the answered SPC.
///
/// Source: `Documentation/FairPlay.md` §6.
package enum ContentKeyContextKey {
    /// - Parameters:
    ///   - r1: 44 bytes.
    ///   - seed: 16 bytes.
    /// - Returns: 16 bytes.
    package static func make(
        r1: UnsafeRawBufferPointer, seed: ArraySlice<UInt8>, _ cipher: borrowing AESCBC
    ) throws(OpenSSLError) -> ErasedBytes {
        guard r1.count == 44, seed.count == 16 else { throw OpenSSLError(in: "CKC key from odd lengths") }
        var digest = try MessageDigest.sha1(r1)
        defer { erase(&digest) }
        let key = ErasedBytes(count: 16)
        try key.write(0..<16) { key throws(OpenSSLError) in
            key.copyBytes(from: seed)
            try digest.withUnsafeBufferPointer { digest throws(OpenSSLError) in
                let digest = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: digest.prefix(16)))
                try cipher.apply(.encrypt, to: key, key: digest)
            }
        }
        return key
    }
}
