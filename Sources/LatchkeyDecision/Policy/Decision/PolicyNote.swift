package import LatchkeyForms

/// Something that a decision came upon: what it refused for, or what it changed.
package struct PolicyNote: Sendable, Hashable {
    /// What kind of note it is. Names are stable.
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
        /// The license ends before its time, because something else does.
        case shortened
        /// An engine is out of service, and the policy goes on without it.
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

    /// What a grant made of a policy's member.
    package init(_ result: Narrowing.Result, of path: String) {
        switch result {
        case .replaced: self.init(.replacedByGrant, "The grant replaces \(path).")
        case .narrowed: self.init(.narrowedByGrant, "The grant narrows \(path).")
        case .ignored: self.init(.grantIgnored, "The grant would widen \(path), which is not allowed.")
        }
    }
}
