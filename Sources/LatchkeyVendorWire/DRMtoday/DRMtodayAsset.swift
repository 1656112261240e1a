package import LatchkeyCore

/// A content identifier of DRMtoday's: the whole key URI, the part after its `?`, or the 16 bytes of a key's identifier.
///
/// Source: `Documentation/Vendors/DRMtoday.md`, SPC content identifier.
package struct DRMtodayAsset: Sendable {
    /// The asset; `nil` if it names only the key.
    package let assetID: String?
    /// The variant, or `nil`.
    package let variantID: String?
    /// The name of the key, or `nil`.
    package let keyName: String?

    package init(_ identifier: ContentIdentifier) {
        if let id = KeyID(bytes: identifier.bytes) {
            (assetID, variantID, keyName) = (nil, nil, id.description)
            return
        }
        let text = identifier.text ?? ""
        let uri = KeyURI(text.contains("?") ? text : "?\(text)")
        assetID = uri.queryValue("assetId")
        variantID = uri.queryValue("variantId").flatMap { $0.isEmpty ? nil : $0 }
        keyName = uri.queryValue("keyId") ?? assetID
    }
}
