public import LatchkeyCore

/// The failure of a store operation. It never contains the data to be stored.
public struct StoreError: DiagnosableError, Equatable {
    /// The kinds of failure. Names are stable.
    public enum Kind: String, Sendable {
        /// The engine does not answer, or does not currently accept changes. The policy's outage rule decides.
        case unavailable = "storeUnavailable"
        /// The store has no room.
        case full = "storeFull"
        /// The stored data has an unknown form: another program wrote it, or a newer version of this one.
        case damaged = "storeDamaged"
        /// The engine lacks the tables, or refuses name and password.
        case misconfigured = "storeMisconfigured"
        /// The data violates the contract: a name with a NUL or of an invalid length, or too many bytes.
        case unfit = "storeUnfit"
    }

    /// The kind of failure.
    public let kind: Kind
    /// The engine's name, such as `postgresql`.
    public let engine: String
    public let reason: String
    public let remedy: String
    /// Whether the engine may be well: it only took too long, or is a part of this process, which is slow.
    package var isLate = false

    public var code: String { kind.rawValue }

    /// Whether the engine did not do the work, and may do it later, as with more room; not that the work was wrong.
    package var isOutage: Bool { [.unavailable, .full, .misconfigured].contains(kind) }

    /// - Parameters:
    ///   - kind: the kind of failure.
    ///   - engine: the engine's name.
    ///   - reason: the cause, on one line, without secrets and without the data to be stored.
    ///   - remedy: the action to take. Defaults to the kind's.
    public init(_ kind: Kind, _ engine: String, reason: String, remedy: String? = nil) {
        self.kind = kind
        self.engine = engine
        self.reason = reason
        self.remedy = remedy ?? kind.remedy
    }
}

extension StoreError.Kind {
    fileprivate var remedy: String {
        switch self {
        case .unavailable: "Check that the engine is running and that this machine can reach it."
        case .full: "Free or add storage space."
        case .damaged: "Restore the store from a backup, or start the version of the server that wrote it."
        case .misconfigured: "Check the store's address and credentials, and run `latchkey-server run --check`."
        case .unfit: "Check names and sizes before they are stored."
        }
    }
}
