import Foundation

/// NAGRA's content token.
enum NAGRAToken {
    /// The first of the tokens that a comma separates: the content token; content-key and session tokens follow.
    static func contentToken(in text: String) -> JWTClaims? { JWTClaims(text.prefix { $0 != "," }) }
}

extension TokenInspection {
    /// The content right for this content: its window, whether it may be stored, and whether it wants a session.
    ///
    /// Source: `vendors.md` §9.1, content token.
    mutating func readNAGRA(_ jwt: JWTClaims, _ use: TokenUse) {
        guard let rights = jwt.claims["contentRights"] as? [[String: Any]] else {
            advice.append(.malformed("it holds no contentRights"))
            return
        }
        add("content", rights.compactMap { $0["contentId"] as? String }.joined(separator: ", "))
        let wanted = use.contentID.map(Self.contentID)
        guard let right = wanted.map({ id in rights.first { $0["contentId"] as? String == id } }) ?? rights.first
        else {
            advice.append(.keyNotCovered)
            return
        }
        checkStart(JWTClaims.date(right["start"]), use.date, as: "right begins")
        checkEnd(JWTClaims.date(right["end"]), use.date, as: "right ends")
        let control = right["sessionControl"] as? [String: Any]
        add("needs a session", (control?["sessionControlEnabled"] as? Bool).map(String.init))
        add("sessions at once", (control?["maxSessions"] as? NSNumber)?.stringValue)
        checkStorage(right["storable"] as? Bool ?? false, use)
    }

    /// The content id inside the JSON document by which the SPC names a key, or the text itself.
    private static func contentID(_ text: String) -> String {
        JSONReply(Data(text.utf8))?.text(at: "ContentId") ?? text
    }
}
