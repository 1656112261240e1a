package import Foundation

/// What a decision changes in an account's slots. A store applies it in one step.
///
/// Source: `Documentation/LicenseServer.md` §6.3 and §7.1.
package enum SessionChange: Sendable, Hashable {
    case none
    /// A new slot, whose fence the store sets; first the other sessions are stopped.
    case take(Slot, stopping: [String])
    /// A slot that is there, with a later end; first the other sessions are stopped.
    case renew(Slot, stopping: [String])
    /// The session's slot is free.
    case release(String)

    /// The sessions that are stopped.
    package var stopping: [String] {
        switch self {
        case .take(_, let sessions), .renew(_, let sessions): sessions
        case .none, .release: []
        }
    }
}

extension AccountState {
    /// The account after a change: the model that every store follows.
    ///
    /// Stopped sessions leave a mark, so that they learn why. A new slot gets a fence above all others.
    package func applying(_ change: SessionChange, at now: Date) -> AccountState {
        var state = self
        let slot: Slot
        switch change {
        case .none: return self
        case .release(let session):
            state.slots.removeAll { $0.session == session }
            return state
        case .take(let taken, _): slot = taken
        case .renew(let renewed, _): slot = renewed
        }
        state.slots.removeAll { change.stopping.contains($0.session) || $0.session == slot.session || $0.ends <= now }
        state.stopped += change.stopping.map { StoppedSession(session: $0, by: slot.label, at: now) }
        var placed = slot
        if case .take = change { placed.fence = (slots.map(\.fence).max() ?? 0) &+ 1 }
        state.slots.append(placed)
        return state
    }
}
