import LatchkeyDecision

/// A bound beyond policy, such as a tenant's limits. It is asked for each license before anything of the decision is kept, so that a request
/// beyond it stops no session, and spends no token.
package protocol DecisionBound: Sendable {
    /// Says that a request is beyond the bound; `Never` where there is none.
    associatedtype Excess: Error

    /// Takes room for a license, if there is some.
    /// - Parameter use: the license's effect on the slots in use.
    /// - Returns: `nil` if there was room.
    func take(_ use: SlotUse) -> Excess?

    /// The license for which room was taken is kept: the store's count of slots includes it from now on.
    func keep(_ use: SlotUse)

    /// Gives room back that was taken for a license which was not kept.
    func giveBack(_ use: SlotUse)
}

/// No bound but policy.
package struct Unbounded: DecisionBound {
    package init() {}
    package func take(_ use: SlotUse) -> Never? { nil }
    package func keep(_ use: SlotUse) {}
    package func giveBack(_ use: SlotUse) {}
}

/// A license's effect on the slots in use.
package enum SlotUse: Sendable, Hashable {
    /// One more is in use.
    case another
    /// A session continues in its slot.
    case renewed
    /// As many are in use: another session's slot is taken over, or none is counted.
    case asMany

    /// - Parameters:
    ///   - decision: a license.
    ///   - keepsSlots: whether slots are kept for it: policy counts them, and the store is available.
    init(_ decision: Decision, keepsSlots: Bool) {
        self =
            switch decision.change {
            case .take(_, stopping: []) where keepsSlots: .another
            case .renew where keepsSlots: .renewed
            case .take, .renew, .release, .none: .asMany
            }
    }
}
