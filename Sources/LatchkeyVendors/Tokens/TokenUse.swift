import Foundation
import LatchkeyCore

/// The request that a token is for.
struct TokenUse {
    var keyID: KeyID?
    var contentID: String?
    var purpose: KeyPurpose
    var settings: [String: String]
    var date: Date

    /// The key's id: `keyID`, or the one at the start of the content id (`GUID:IV`) or in its `kid=` or `keyId=`.
    var wantedKeyID: KeyID? {
        if let keyID { return keyID }
        guard let contentID else { return nil }
        let item = queryValue("kid") ?? queryValue("keyId")
        return KeyID(item ?? String(KeyURI(contentID).remainder.prefix { $0 != ":" }))
    }

    /// A query item of the content id, which may be a query or end with one.
    func queryValue(_ name: String) -> String? {
        contentID.flatMap { KeyURI($0.contains("?") ? $0 : "?\($0)").queryValue(name) }
    }
}
