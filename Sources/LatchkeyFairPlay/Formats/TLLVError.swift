import LatchkeyCore

/// A payload that is no gap-free sequence of blocks with different tags.
package struct TLLVError: DiagnosableError, Equatable {
    /// The kinds of error. Names are stable.
    package enum Kind: String, Sendable {
        /// A header or a length that does not fit.
        case malformed = "malformedTLLV"
        /// A tag that occurs twice.
        case duplicate = "duplicateTag"
    }

    /// What kind of error it is.
    package let kind: Kind
    /// Where the block begins in the payload.
    package let offset: Int
    let what: String

    package var code: String { kind.rawValue }
    package var reason: String { "At byte \(offset) of the payload \(what)." }
    package var remedy: String { "Check that the payload was decrypted with the right key and is complete." }
}
