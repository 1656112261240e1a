package import LatchkeyForms

/// A finding of a decision: a reason to refuse, or a change that it made.
package struct PolicyNote: Sendable, Hashable {
    /// The kind of note. Names are stable.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// A reason to refuse. The first one is the refusal.
        case refused
        /// The grant made a member stricter.
        case narrowedByGrant
        /// The grant asked for more than the policy, and did not get it.
        case grantIgnored
        /// The grant replaced a member, as the policy lets it.
        case replacedByGrant
        /// The policy would let the key be stored, and the request may not store it.
        case notStored
        /// The license ends before its time, because of another end.
        case shortened
        /// An engine is out of service, and the policy continues without it.
        case outage
        /// A start beyond the limit, which the policy only counts.
        case overLimit
        /// Sessions that were stopped for this one.
        case stopped
        /// An older session of the same device, which this one replaces.
        case replaced
        /// How long the right lasts.
        case remaining
    }

    package let code: Code
    /// One sentence, without secrets.
    package let text: String

    package init(_ code: Code, _ text: String) {
        self.code = code
        self.text = text
    }

    /// The result of narrowing a policy's member by a grant.
    package init(_ result: Narrowing.Result, of path: String) {
        switch result {
        case .replaced: self.init(.replacedByGrant, "The grant replaces \(path).")
        case .narrowed: self.init(.narrowedByGrant, "The grant narrows \(path).")
        case .ignored: self.init(.grantIgnored, "The grant would widen \(path), which is not allowed.")
        }
    }
}
