import Foundation
import LatchkeyCore
import LatchkeyForms

/// PallyCon's token: a JSON object in base64.
struct PallyConToken {
    /// The default lifetime of a token in seconds. Accounts may change it.
    static let lifetime: Double = 600

    let members: JSONValue

    /// - Parameter token: base64 of a JSON object with `drm_type` or `site_id`; else the result is `nil`.
    init?(_ token: String) {
        guard let members = JSONValue(base64: token), members["drm_type"] != nil || members["site_id"] != nil else {
            return nil
        }
        self.members = members
    }
}

extension TokenInspection {
    /// The DRM, the content id, the time of making, and the form of the reply. The policy inside is encrypted.
    ///
    /// Source: `Documentation/Vendors/DoveRunner.md`, token.
    mutating func readPallyCon(_ token: String, _ use: TokenUse) {
        guard let token = PallyConToken(token) else {
            advice = [.malformed("not base64 of a JSON object with drm_type and site_id")]
            return
        }
        for name in ["drm_type", "site_id", "cid", "response_format"] { add(name, token.members[name]?.text) }
        if let type = token.members["drm_type"]?.text, type != "FairPlay" {
            advice.append(.unsuitable("its drm_type is \(type.inFewWords)"))
        }
        if token.members["response_format"]?.text == "custom" {
            advice.append(.unsuitable("its response_format is custom, and the profile reads original"))
        }
        if let wanted = use.contentID, let content = token.members["cid"]?.text, content != wanted {
            advice.append(.keyNotCovered)
        }
        guard let made = token.members["timestamp"]?.text.flatMap(Date.init(lenientISO8601:)) else {
            advice.append(.malformed("its timestamp is not of the form yyyy-mm-ddThh:mm:ssZ"))
            return
        }
        checkStart(made, use.date, as: "generated")
        checkEnd(made.addingTimeInterval(PallyConToken.lifetime), use.date)
    }
}
