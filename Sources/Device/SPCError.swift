public import LatchkeyCore

/// Why a simulated device makes no SPC.
///
/// Source: `fps-protocol.md` §14.
public struct SPCError: DiagnosableError, Equatable {
    /// The kinds of error. Names are stable.
    public enum Kind: String, Sendable, CaseIterable {
        /// A content identifier that is empty.
        case contentIdentifierMissing
        /// A content identifier that is not 2 to 200 bytes.
        case contentIdentifierLength
        /// No protocol version at all.
        case noProtocolVersion
        /// libcrypto could not work.
        case cryptography
    }

    /// What kind of error it is.
    public let kind: Kind
    public let reason: String
    public var code: String { kind.rawValue }

    /// The number that an Apple device reports in this case.
    public var systemNumber: Int {
        switch kind {
        case .contentIdentifierMissing: -42673
        case .contentIdentifierLength: -42675
        case .noProtocolVersion: -42674
        case .cryptography: -42676
        }
    }

    public var remedy: String {
        switch kind {
        case .contentIdentifierMissing, .contentIdentifierLength: "Give a content identifier of 2 to 200 bytes."
        case .noProtocolVersion: "List protocol version 1."
        case .cryptography: "Check the installed OpenSSL 3."
        }
    }
}
