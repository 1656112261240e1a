import LatchkeyCore

/// Bytes of an SPC or a CKC that do not have their form.
package struct FormatError: DiagnosableError, Equatable {
    /// The kinds of error. Names are stable.
    package enum Kind: String, Sendable {
        /// A block's header or a length that does not fit.
        case malformed = "malformedTLLV"
        /// A tag that occurs twice.
        case duplicate = "duplicateTag"
        /// Bytes that are not a CKC.
        case notACKC
        /// Terms in a CKC that make no sense.
        case badTerms
    }

    /// What kind of error it is.
    package let kind: Kind
    /// Where the block begins in the payload; 0 for what is no block.
    package var offset = 0
    /// What is wrong, as a clause: `the lease is 0 seconds`.
    let what: String
    /// What bytes that are not a CKC look like instead, such as `JSON`; `nil` without an idea.
    package var apparentFormat: String?

    package var code: String { kind.rawValue }

    package var reason: String {
        switch kind {
        case .malformed, .duplicate: "At byte \(offset) of the payload \(what)."
        case .notACKC: "The bytes are not a CKC: \(what)" + (apparentFormat.map { "; they look like \($0)." } ?? ".")
        case .badTerms: "The CKC's terms make no sense: \(what)."
        }
    }

    package var remedy: String {
        switch (kind, apparentFormat) {
        case (.malformed, _), (.duplicate, _):
            "Check that the payload was decrypted with the right key and is complete."
        case (.notACKC, nil): "Check that the license service's whole reply arrived, and how the CKC is wrapped in it."
        case (.notACKC, "base64 text"): "Decode the base64 text before giving it to the player."
        case (.notACKC, _): "Read the license service's reply: it holds an error, or the CKC in one of its fields."
        case (.badTerms, _): "Check the durations and the display requirement that the key server was given."
        }
    }

    static func notACKC(_ bytes: [UInt8], _ what: String) -> Self {
        Self(
            kind: .notACKC, what: what,
            apparentFormat: bytes.isEmpty ? "an empty reply" : FormatGuess(of: bytes)?.rawValue)
    }

    static func badTerms(_ what: String) -> Self { Self(kind: .badTerms, what: what) }
}
