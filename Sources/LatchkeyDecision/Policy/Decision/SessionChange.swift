/// A decision's change of an account's slots. A store applies it in one step.
///
/// Source: `Documentation/LicenseServer.md` §6.3 and §7.1.
package enum SessionChange: Sendable, Hashable {
    case none
    /// A new slot, whose fence the store sets; first the other sessions are stopped.
    case take(Slot, stopping: [String])
    /// An existing slot, with a later end; first the other sessions are stopped.
    case renew(Slot, stopping: [String])
    /// The session's slot is free.
    case release(String)

    /// The slot that is taken or renewed.
    package var slot: Slot? {
        switch self {
        case .take(let slot, _), .renew(let slot, _): slot
        case .none, .release: nil
        }
    }

    /// The sessions that are stopped.
    package var stopping: [String] {
        switch self {
        case .take(_, let sessions), .renew(_, let sessions): sessions
        case .none, .release: []
        }
    }
}
