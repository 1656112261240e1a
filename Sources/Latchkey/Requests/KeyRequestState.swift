import LatchkeyCore

/// The state of a key request.
///
///     pending ──▶ held ◀──▶ renewalDue
///      │   │       ▲ │        │
///      │   │       │ ▼        │
///      │   │      renewing ◀──┘
///      ▼   ▼       │
///   stopping ──▶ ended        (every state may end)
enum KeyRequestState: Sendable, Hashable {
    /// The loader is getting the license.
    case pending
    /// The player has its answer or wants none, but the work has not stopped yet.
    case stopping
    /// The player has the key; its renewal is due at an uptime. `nil` if no renewal is planned or possible.
    case held(renewal: Duration?)
    /// The player was asked to renew the key, and has until an uptime to do so.
    case renewalDue(until: Duration)
    /// The player's request for the renewal is pending; its number.
    case renewing(by: Int)
    /// The request is over.
    case ended

    /// Whether the player has the key and the loader keeps it alive.
    var isHeld: Bool {
        switch self {
        case .held, .renewalDue, .renewing: true
        case .pending, .stopping, .ended: false
        }
    }
}
