import Foundation
import LatchkeyCore

/// What a token is wanted for.
struct TokenUse {
    var keyID: KeyID?
    var contentID: String?
    var purpose: KeyPurpose
    var settings: [String: String]
    var date: Date

    /// The key's id: the one given, or the one that the content id begins with (`GUID:IV`) or has in `kid=` or `keyId=`.
    var wantedKeyID: KeyID? {
        if let keyID { return keyID }
        guard let contentID else { return nil }
        let item = queryValue("kid") ?? queryValue("keyId")
        return KeyID(item ?? String(KeyURI(contentID).remainder.prefix { $0 != ":" }))
    }

    /// An item of the content id, which may be a query or end with one.
    func queryValue(_ name: String) -> String? {
        contentID.flatMap { KeyURI($0.contains("?") ? $0 : "?\($0)").queryValue(name) }
    }
}
