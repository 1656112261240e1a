public import LatchkeyCore

/// A payload that is no gap-free sequence of blocks with different tags.
public struct TLLVError: DiagnosableError, Equatable {
    /// The kinds of error. Names are stable.
    public enum Kind: String, Sendable {
        /// A header or a length that does not fit.
        case malformed = "malformedTLLV"
        /// A tag that occurs twice.
        case duplicate = "duplicateTag"
    }

    /// What kind of error it is.
    public let kind: Kind
    /// Where the block begins in the payload.
    public let offset: Int
    let what: String

    public var code: String { kind.rawValue }
    public var reason: String { "At byte \(offset) of the payload \(what)." }
    public var remedy: String { "Check that the payload was decrypted with the right key and is complete." }
}
