import LatchkeyCore

/// A malformed SPC payload, CKC or CKC block.
package struct FormatError: DiagnosableError, Equatable {
    /// The kinds of error. Names are stable.
    package enum Kind: String, Sendable {
        /// A block with an invalid header or length.
        case malformed = "malformedTLLV"
        /// A tag that occurs twice.
        case duplicate = "duplicateTag"
        /// Bytes that are not a CKC.
        case notACKC
        /// Invalid terms in a CKC.
        case badTerms
    }

    /// The kind of error.
    package let kind: Kind
    /// The offset of the block in the payload; 0 for other errors.
    package var offset = 0
    /// The problem, as a clause: `the lease is 0 seconds`.
    let what: String
    /// The apparent format of bytes that are not a CKC, such as `JSON`; `nil` if unknown.
    package var apparentFormat: String?

    package var code: String { kind.rawValue }

    package var reason: String {
        switch kind {
        case .malformed, .duplicate: "At byte \(offset) of the payload \(what)."
        case .notACKC: "The bytes are not a CKC: \(what)" + (apparentFormat.map { "; they look like \($0)." } ?? ".")
        case .badTerms: "The CKC's terms are invalid: \(what)."
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
