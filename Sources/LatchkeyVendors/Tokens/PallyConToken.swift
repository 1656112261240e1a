import Foundation
import LatchkeyCore

/// PallyCon's token: a JSON object in base64.
struct PallyConToken {
    /// The default lifetime of a token in seconds. Accounts may change it.
    static let lifetime: Double = 600

    let members: [String: Any]

    /// - Parameter token: base64 of a JSON object with `drm_type` or `site_id`; else the result is `nil`.
    init?(_ token: String) {
        guard let data = Data(lenientBase64: token),
            let members = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            members["drm_type"] != nil || members["site_id"] != nil
        else { return nil }
        self.members = members
    }

    func text(_ name: String) -> String? { members[name] as? String }
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
        for name in ["drm_type", "site_id", "cid", "response_format"] { add(name, token.text(name)) }
        if let type = token.text("drm_type"), type != "FairPlay" {
            advice.append(.unsuitable("its drm_type is \(type.inFewWords)"))
        }
        if token.text("response_format") == "custom" {
            advice.append(.unsuitable("its response_format is custom, and the profile reads original"))
        }
        if let wanted = use.contentID, let content = token.text("cid"), content != wanted {
            advice.append(.keyNotCovered)
        }
        guard let made = token.text("timestamp").flatMap(Date.init(lenientISO8601:)) else {
            advice.append(.malformed("its timestamp is not of the form yyyy-mm-ddThh:mm:ssZ"))
            return
        }
        checkStart(made, use.date, as: "generated")
        checkEnd(made.addingTimeInterval(PallyConToken.lifetime), use.date)
    }
}
