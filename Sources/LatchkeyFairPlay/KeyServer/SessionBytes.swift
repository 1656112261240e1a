import LatchkeyCore

/// The decrypted [SK..R1].
///
///      offset  0               16             36             80                96
///             +---------------+--------------+--------------+-----------------+
///             | SK, wraps the | HU, the      | R1, 44       | integrity bytes |
///             | content key   | device, 20   |              | 16              |
///             +---------------+--------------+--------------+-----------------+
///
/// Use nothing of it before `isWhole(_:)` returned `true`: with the wrong derived key these bytes are noise.
///
/// Source: `Documentation/FairPlay.md` §5.
struct SessionBytes: Sendable {
    private let bytes: ErasedBytes

    private static let sessionKeyRange = 0..<16
    private static let deviceIdentifier = 16..<36
    private static let r1 = 36..<80
    private static let integrity = 80..<96

    /// Decrypts the value of the block [SK..R1].
    /// - Parameters:
    ///   - sealed: an IV and the ciphertext, 112 bytes.
    ///   - key: the derived key, 16 bytes.
    init(_ sealed: ArraySlice<UInt8>, key: Secret, _ cipher: borrowing AESCBC) throws(OpenSSLError) {
        guard sealed.count == 112 else { throw OpenSSLError(in: "[SK..R1] of \(sealed.count) bytes") }
        bytes = ErasedBytes(count: 96)
        let iv = AESBlock(sealed.prefix(16))
        try bytes.write(0..<96) { bytes throws(OpenSSLError) in
            sealed.dropFirst(16).withUnsafeBytes { bytes.copyMemory(from: $0) }
            try key.withUnsafeBytes { key throws(OpenSSLError) in
                try cipher.apply(.decrypt, to: bytes, key: key, iv: iv)
            }
        }
    }

    /// The key that wraps the content key, 16 bytes.
    var sessionKey: Secret { bytes.read(Self.sessionKeyRange) { Secret($0) } }

    /// The device's anonymized identifier, 20 bytes.
    var deviceIdentifier: Secret { bytes.read(Self.deviceIdentifier) { Secret($0) } }

    /// Whether the integrity bytes equal the stated ones, compared in constant time.
    func isWhole(_ stated: ArraySlice<UInt8>) -> Bool {
        stated.withUnsafeBytes { stated in
            bytes.read(Self.integrity) { constantTimeEquals($0, stated) }
        }
    }

    /// Calls a closure with R1, 44 bytes.
    func withR1<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.read(Self.r1, body)
    }

    /// Wraps a content key for the device: the IV in clear, then the key encrypted with the session key. 32 bytes.
    func wrap(_ content: ContentKey, _ cipher: borrowing AESCBC) throws(OpenSSLError) -> [UInt8] {
        var value = content.iv.withUnsafeBytes { [UInt8]($0) }
        content.key.withUnsafeBytes { value.append(contentsOf: $0) }
        try bytes.read(Self.sessionKeyRange) { key throws(OpenSSLError) in
            try cipher.apply(.encrypt, to: &value, from: 16, key: key)
        }
        return value
    }
}
