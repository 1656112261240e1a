import LatchkeyCore

/// What a content identifier of DRMtoday's says: the whole key URI, the part behind its `?`, or the 16 bytes of a key's
/// identifier.
///
/// Source: `vendors.md` §12, SPC content identifier.
struct DRMtodayAsset: Sendable {
    /// The asset; nil where only the key is named.
    let assetID: String?
    /// The variant; nil where there is none.
    let variantID: String?
    /// What names the key; nil where nothing does.
    let keyName: String?

    init(_ identifier: ContentIdentifier) {
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
