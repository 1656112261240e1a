import Foundation
import LatchkeyCore

extension TokenInspection {
    /// The license service message (`begin_date`, `expiration_date`) and the entitlement message inside it: the license's
    /// window, the ids of its keys, `allow_persistence`.
    ///
    /// Source: `vendors.md` §10, token.
    mutating func readAxinom(_ jwt: JWTClaims, _ use: TokenUse) {
        add("communication key", jwt.claims["com_key_id"] as? String)
        checkStart(jwt.date("begin_date"), use.date, as: "message begins")
        checkEnd(jwt.date("expiration_date"), use.date, as: "message expires")
        guard let message = jwt.claims["message"] as? [String: Any],
            message["type"] as? String == "entitlement_message"
        else {
            advice.append(.malformed("it holds no entitlement message"))
            return
        }
        let license = message["license"] as? [String: Any] ?? [:]
        checkStart(JWTClaims.date(license["start_datetime"]), use.date, as: "license begins")
        checkEnd(JWTClaims.date(license["expiration_datetime"]), use.date, as: "license expires")
        add("license lasts", (license["duration"] as? NSNumber).map { "\($0) s" })
        checkAxinomKeys(message, use)
        checkStorage(license["allow_persistence"] as? Bool ?? false, use)
    }

    private mutating func checkAxinomKeys(_ message: [String: Any], _ use: TokenUse) {
        let source = message["content_keys_source"] as? [String: Any]
        guard let inline = source?["inline"] as? [[String: Any]] else { return }
        let keys = inline.compactMap { $0["id"] as? String }
        add("keys", keys.joined(separator: ", "))
        guard let wanted = use.wantedKeyID, !keys.compactMap({ KeyID($0) }).contains(wanted) else { return }
        advice.append(.keyNotCovered)
    }
}
