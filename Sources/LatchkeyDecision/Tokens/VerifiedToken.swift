package import Foundation
import LatchkeyCore
package import LatchkeyForms

/// A token with a valid signature and valid claims.
package struct VerifiedToken: Sendable, CustomStringConvertible {
    /// All claims.
    package let claims: [String: JSONValue]
    /// The name of the key that signed it; `nil` for a key without a name.
    package let keyID: TokenKeyID?
    /// When it ends.
    package let expiry: Date
    /// When it was made; `nil` if it does not say.
    package let issued: Date?

    /// Its subject, `sub`; `nil` without.
    package var subject: String? { text("sub") }
    /// Its unique identifier at its service, `jti`; `nil` without.
    package var identifier: String? { text("jti") }

    /// Its end and key; never a claim, which may be personal.
    package var description: String {
        "token until \(Int(saturating: expiry.timeIntervalSince1970)), key \(keyID?.description ?? "without a name")"
    }

    private func text(_ claim: String) -> String? { claims[claim]?.text }
}
