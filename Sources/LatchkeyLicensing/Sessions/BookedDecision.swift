package import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyVault

/// A decision about one key, with its effect on the account.
package final class BookedDecision: Sendable {
    /// The decision on the request.
    package let decision: Decision
    /// The source of the record, in case it is needed.
    let origin: Origin
    /// The session's slot, with its fence; `nil` where no slot is kept, or the store is out of service.
    package let slot: Slot?
    /// Whether this decision took the slot. `AccountSessions.undo(_:tookSlot:)` gives it back.
    package let isTaken: Bool
    /// The token for heartbeats and for releasing the slot; `nil` without a slot.
    package let heartbeatToken: String?
    /// How often the player sends it; `nil` if slots live by leases.
    package let heartbeat: Duration?
    /// Where the account is kept; `nil` if the decision did not depend on it.
    let account: RecordKey?

    init(
        _ decision: Decision, _ origin: Origin, slot: Slot? = nil, isTaken: Bool = false, heartbeatToken: String? = nil,
        heartbeat: Duration? = nil, account: RecordKey? = nil
    ) {
        (self.decision, self.origin, self.slot, self.isTaken) = (decision, origin, slot, isTaken)
        (self.heartbeatToken, self.heartbeat, self.account) = (heartbeatToken, heartbeat, account)
    }

    /// The license's effect on the slots in use; `nil` without one.
    var use: SlotUse? { decision.terms == nil ? nil : SlotUse(decision, keepsSlots: account != nil) }

    /// The decision's inputs, to explain it and to make it again.
    package var record: DecisionRecord {
        DecisionRecord(origin.facts, by: origin.policy, requestID: origin.requestID, decision)
    }

    struct Origin: Sendable {
        let facts: Facts
        let policy: Policy
        let requestID: String?
    }
}

/// The outcome of a heartbeat.
package enum HeartbeatAnswer: Sendable, Equatable {
    /// The slot is the session's until then, by the store's clock.
    case continues(until: Date)
    /// The slot is gone, or its state is unknown; the refusal says why.
    case refused(LicenseRefusal)
}
