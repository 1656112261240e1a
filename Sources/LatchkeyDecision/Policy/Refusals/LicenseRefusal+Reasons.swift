import LatchkeyCore

/// The refusals that servers and services share.
extension LicenseRefusal {
    package static let emptySPC = LicenseRefusal(
        .malformedRequest, reason: "The request has no SPC.", remedy: "Send the SPC that the player made.")

    package static let noCertificate = LicenseRefusal(
        .vendor(code: "certificateMissing", status: 404),
        reason: "This server has no application certificate to return.",
        remedy: "Bundle the certificate with the app, or ask the operator for its address.")

    package static let overloaded = LicenseRefusal(
        .overloaded, reason: "The server has too many waiting requests.")

    package static func unknownKey(_ name: String) -> Self {
        Self(.unknownKey, reason: "The key “\(shown(name))” does not exist.")
    }

    package static func ambiguousKey(_ name: String) -> Self {
        Self(.ambiguousKey, reason: "“\(shown(name))” names several keys.")
    }

    package static func contentMismatch(_ name: String, _ asset: String) -> Self {
        Self(.contentMismatch, reason: "The request is for “\(shown(name))” but its SPC is for “\(shown(asset))”.")
    }

    /// At most 40 characters of printable ASCII of a name, without secrets: the query of a key URI may carry a token, and a client that
    /// sends another viewer's SPC must not read its contents.
    private static func shown(_ name: String) -> String {
        let text = Redaction.standard.redacted(urlText: String(name.prefix(2_000)))
        let shown = text.unicodeScalars.prefix(shownCharacters).map { scalar in
            (0x20...0x7e).contains(scalar.value) || "‹›".unicodeScalars.contains(scalar) ? Character(scalar) : "?"
        }
        return String(shown) + (text.unicodeScalars.count > shownCharacters ? "…" : "")
    }

    private static let shownCharacters = 40

    /// - Parameters:
    ///   - method: of the request, such as `PUT`.
    ///   - allowed: the endpoint's methods.
    package static func method(_ method: String, allowed: [String]) -> Self {
        Self(
            .method(allowed: allowed.joined(separator: ", ")),
            reason: "The endpoint does not allow \(method.prefix(20)).")
    }

    package static func mediaType(_ type: String?) -> Self {
        Self(.mediaType, reason: "The endpoint does not accept a body of type \(type?.prefix(60) ?? "none").")
    }

    package static func malformed(_ reason: String) -> Self { Self(.malformedRequest, reason: reason) }

    package static func tokenMissing(_ place: String) -> Self {
        Self(.tokenMissing, reason: "There is no token in \(place).")
    }

    package static func tokenMalformed(_ reason: String) -> Self { Self(.tokenMalformed, reason: reason) }
    package static func tokenExpired(_ reason: String) -> Self { Self(.tokenExpired, reason: reason) }
    package static func tokenNotYetValid(_ reason: String) -> Self { Self(.tokenNotYetValid, reason: reason) }
    package static let tokenUsed = Self(.tokenUsed, reason: "The token was used before.")
    package static func notCovered(_ reason: String) -> Self { Self(.notCovered, reason: reason) }
    package static func unknownTenant(_ reason: String) -> Self { Self(.unknownTenant, reason: reason) }
}
