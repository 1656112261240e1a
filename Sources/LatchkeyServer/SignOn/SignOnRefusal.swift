import LatchkeyCore
import LatchkeyDecision

/// Why a sign-in was refused. No text repeats input from a provider or a browser, except for names that are cut short.
///
/// Source: `Documentation/Server/Operators.md`.
struct SignOnRefusal: DiagnosableError, Equatable {
    let status: Int
    let code: String
    let reason: String
    let remedy: String
    /// The refused person as the provider named them, if known.
    private(set) var subject: String?

    private init(_ status: Int, _ code: String, _ reason: String, _ remedy: String) {
        (self.status, self.code, self.reason, self.remedy) = (status, code, reason, remedy)
    }

    /// The provider cannot be asked.
    static func away(_ what: String) -> Self {
        Self(
            503, "signOnAway", "The OpenID provider cannot be reached. \(what)",
            "Try again later. Existing sessions and operators' keys still work.")
    }

    /// The provider's discovery document or reply violates the protocol.
    static func provider(_ what: String) -> Self {
        Self(
            502, "signOnProvider", "The OpenID provider's reply was rejected. \(what)",
            "Report this to the server's administrator.")
    }

    /// The browser's request belongs to no sign-in that was begun in it, or to a past one.
    static func state(_ what: String) -> Self {
        Self(400, "signOnState", "This sign-in was not started in this browser. \(what)", "Sign in again.")
    }

    /// The provider has refused.
    /// - Parameter error: its code, shown only if it is plain words.
    static func declined(_ error: String) -> Self {
        let isPlain = (1...64).contains(error.utf8.count) && error.utf8.allSatisfy { 0x5f == $0 || 0x61...0x7a ~= $0 }
        return Self(
            403, "signOnDeclined", "The OpenID provider did not sign you in\(isPlain ? " (\(error))" : "").",
            "Sign in again, or ask the provider's administrator.")
    }

    /// An ID token that is not good.
    static func token(_ error: TokenError) -> Self { .token("\(error.code): \(error.reason)") }

    static func token(_ what: String) -> Self {
        Self(
            502, "signOnToken", "The OpenID provider's ID token was rejected. \(what)",
            "Report this to the server's administrator.")
    }

    /// A person known to the provider, without a role in the settings.
    /// - Parameters:
    ///   - subject: the person's name at the provider.
    ///   - claim: the claim with the roles.
    static func unknown(_ subject: String, claim: String) -> Self {
        var refusal = Self(
            403, "signOnUnknown",
            "You have no role here: no value of “\(claim.prefix(80).description.onOneLine)” matches this server's grants.",
            "Ask the server's administrator for a role.")
        refusal.subject = subject
        return refusal
    }

    /// Data too long for a cookie.
    static let tooLong = Self(
        502, "signOnTooLong", "The names from the OpenID provider are too long for a session.",
        "Configure shorter names or fewer grants for this client.")

    static let off = Self(
        404, "signOnOff", "This server has no OpenID Connect sign-in.", "Sign in with an operator's key.")

    static let unsigned = Self(
        500, "signOnUnsigned", "The session cannot be signed.", "Check the server's log.")
}
