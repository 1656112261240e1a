import LatchkeyCore

/// The slot and the room in the tenant's limits that one license took. Given back at most once, however often it is copied.
package final class TakenRoom: Sendable {
    private struct Part {
        let booked: BookedDecision
        let use: SlotUse
        let limits: TenantBound
    }

    private let accounts: AccountSessions
    private let parts = Locked<[Part]>([])

    init(_ accounts: AccountSessions) { self.accounts = accounts }

    /// Adds the room that a decision took. A request for several keys makes several decisions.
    func add(_ booked: BookedDecision, within limits: TenantBound) {
        guard let use = booked.use else { return }
        parts.withLock { $0.append(Part(booked: booked, use: use, limits: limits)) }
    }

    /// Gives everything back, for a license that cannot be sent.
    package func giveBack() async {
        let parts = parts.withLock { parts in
            defer { parts = [] }
            return parts
        }
        var tookSlot = false
        for part in parts {
            // A later key of the request renews the slot that an earlier one took.
            tookSlot = tookSlot || part.booked.isTaken
            await accounts.undo(part.booked, tookSlot: tookSlot)
            part.limits.undo(part.use)
        }
    }
}
