import LatchkeyCore

/// Why a token was refused, for the operator's log. The client gets ``refusal``, which reveals none of it.
///
/// No text holds any part of the token but the name of its key, cut short and on one line.
package struct TokenError: DiagnosableError, Equatable {
    /// The fault. The raw values are stable; metrics count by them.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Not a signed token in compact form, too long, or a header that asks for an unsupported feature.
        case form
        /// No algorithm, an unknown one, `none`, or another than the key's.
        case algorithm
        /// No key of this name, or an ambiguous key.
        case key
        /// Expired, not valid yet, or valid for too long.
        case time
        /// Not signed with the key.
        case signature
        /// A claim that is missing, of another form, or of another value than the rules require.
        case claim
    }

    package let kind: Kind
    package let reason: String
    package let remedy: String
    /// The key that the token names and the set does not have; `nil` for every other error. A set may be fetched again for it.
    package let unknownKey: TokenKeyID?

    package init(_ kind: Kind, _ reason: String, remedy: String, unknownKey: TokenKeyID? = nil) {
        self.kind = kind
        self.reason = reason
        self.remedy = remedy
        self.unknownKey = unknownKey
    }

    /// `tokenForm`, `tokenAlgorithm`, `tokenKey`, `tokenTime`, `tokenSignature` or `tokenClaim`.
    package var code: String { "token" + kind.rawValue.prefix(1).uppercased() + kind.rawValue.dropFirst() }

    /// The answer to the client: 401 and one code, whatever was wrong.
    package var refusal: LicenseRefusal { .tokenRefused }
}

extension TokenError {
    static func form(_ reason: String) -> Self {
        Self(
            .form, "The token cannot be read. \(reason)",
            remedy: "Create the token with a JWT library, signed and in compact form.")
    }

    static func algorithm(_ reason: String) -> Self {
        Self(.algorithm, reason, remedy: "Sign with the algorithm that the key set states for the key.")
    }

    static func time(_ reason: String) -> Self {
        Self(.time, reason, remedy: "Fetch a fresh token, and compare the clocks of server and token service.")
    }

    static func claim(_ reason: String) -> Self {
        Self(.claim, reason, remedy: "Compare the token service's claims with the server's token rules.")
    }

    static let signature = Self(
        .signature, "The token is not signed with the key that it names.",
        remedy: "Compare the token service's signing key with the key set.")

    static func signature(ofNone count: Int) -> Self {
        Self(
            .signature, "The token does not name a key, and none of the \(count) possible keys signed it.",
            remedy: "Compare the token service's signing key with the key set.")
    }
}
