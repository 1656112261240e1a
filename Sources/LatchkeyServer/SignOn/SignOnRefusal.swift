import LatchkeyCore
import LatchkeyDecision

/// Why somebody is not signed in. No text repeats what a provider or a browser sent, but for names that are cut short.
///
/// Source: `Documentation/Server/Operators.md`.
struct SignOnRefusal: DiagnosableError, Equatable {
    let status: Int
    let code: String
    let reason: String
    let remedy: String
    /// Whom the provider named, if it is known who is refused.
    private(set) var subject: String?

    private init(_ status: Int, _ code: String, _ reason: String, _ remedy: String) {
        (self.status, self.code, self.reason, self.remedy) = (status, code, reason, remedy)
    }

    /// The provider cannot be asked.
    static func away(_ what: String) -> Self {
        Self(
            503, "signOnAway", "The OpenID provider cannot be asked. \(what)",
            "Try again later. Who is signed in stays so, and operators' keys go on.")
    }

    /// The provider says what it must not, in its discovery document or in its reply.
    static func provider(_ what: String) -> Self {
        Self(
            502, "signOnProvider", "The OpenID provider's answer is not taken. \(what)",
            "Show this to whoever runs the server.")
    }

    /// The browser's request belongs to no sign-in that was begun in it, or to one that is over.
    static func state(_ what: String) -> Self {
        Self(400, "signOnState", "This is no sign-in that began in this browser. \(what)", "Sign in again.")
    }

    /// The provider has refused.
    /// - Parameter error: its code, of which only plain words are shown.
    static func declined(_ error: String) -> Self {
        let isPlain = (1...64).contains(error.utf8.count) && error.utf8.allSatisfy { 0x5f == $0 || 0x61...0x7a ~= $0 }
        return Self(
            403, "signOnDeclined", "The OpenID provider did not sign you in\(isPlain ? " (\(error))" : "").",
            "Sign in again, or ask whoever runs the provider.")
    }

    /// An ID token that is not good.
    static func token(_ error: TokenError) -> Self { .token("\(error.code): \(error.reason)") }

    static func token(_ what: String) -> Self {
        Self(
            502, "signOnToken", "The OpenID provider's ID token is not taken. \(what)",
            "Show this to whoever runs the server.")
    }

    /// Somebody whom the provider knows, and to whom no setting gives a role.
    /// - Parameters:
    ///   - subject: who it is.
    ///   - claim: where the roles are looked for.
    static func unknown(_ subject: String, claim: String) -> Self {
        var refusal = Self(
            403, "signOnUnknown",
            "You have no role here: nothing in “\(claim.prefix(80).description.onOneLine)” is one of this server's grants.",
            "Ask whoever runs the server for a role.")
        refusal.subject = subject
        return refusal
    }

    /// What a cookie cannot hold.
    static let tooLong = Self(
        502, "signOnTooLong", "The names that the OpenID provider gives are too long for a session.",
        "Give this client shorter names, or fewer grants.")

    static let off = Self(
        404, "signOnOff", "Nobody signs in by OpenID Connect here.", "Sign in with an operator's key.")

    static let unsigned = Self(
        500, "signOnUnsigned", "The session cannot be signed.", "Look into the server's log.")
}
