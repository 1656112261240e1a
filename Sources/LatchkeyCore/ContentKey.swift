/// A content key and its IV, 16 bytes each.
///
/// A license service stores it and a device takes it from a CKC. An app never sees one.
public struct ContentKey: Sendable, Hashable {
    /// The AES-128 key, 16 bytes.
    public let key: Secret
    /// The constant IV of the media, 16 bytes. It travels in clear in the CKC.
    public let iv: Secret

    /// - Returns: `nil` unless both are 16 bytes.
    public init?(key: Secret, iv: Secret) {
        guard key.count == 16, iv.count == 16 else { return nil }
        self.key = key
        self.iv = iv
    }
}
