package import Foundation
package import LatchkeyCore

/// The decision on a license request.
///
/// Source: `Documentation/LicenseServer.md` §6.3.
package enum Decision: Sendable, Equatable {
    /// A license on these terms.
    /// - `SessionChange`: the change of the account's slots.
    /// - `renewAfter`: when the player renews; `nil` if it need not.
    /// - `delivers`: the content that the CKC has to carry.
    case license(LicenseTerms, SessionChange, renewAfter: Duration?, delivers: Delivery, notes: [PolicyNote])
    /// No license. The notes hold every reason; the refusal is the first.
    case refuse(LicenseRefusal, SessionChange, notes: [PolicyNote])
    /// The player stopped: its slot is free, and it needs neither license nor refusal.
    case acknowledge(SessionChange, notes: [PolicyNote])

    /// The content that a CKC has to carry, by the player's state.
    package enum Delivery: String, Sendable, Hashable, CaseIterable {
        case keyAndDuration
        /// The player has the key; it may come along.
        case duration
    }

    /// The change of the account's slots.
    package var change: SessionChange {
        switch self {
        case .license(_, let change, _, _, _), .refuse(_, let change, _), .acknowledge(let change, _): change
        }
    }

    /// The decision's findings, reasons to refuse first.
    package var notes: [PolicyNote] {
        switch self {
        case .license(_, _, _, _, let notes), .refuse(_, _, let notes), .acknowledge(_, let notes): notes
        }
    }

    /// The terms; `nil` without a license.
    package var terms: LicenseTerms? {
        guard case .license(let terms, _, _, _, _) = self else { return nil }
        return terms
    }

    /// The refusal, or `nil`.
    package var refusal: LicenseRefusal? {
        guard case .refuse(let refusal, _, _) = self else { return nil }
        return refusal
    }

    /// `license`, `acknowledge`, or the refusal's code, as a policy's example expects it.
    package var word: String {
        switch self {
        case .license: "license"
        case .acknowledge: "acknowledge"
        case .refuse(let refusal, _, _): refusal.code
        }
    }
}

/// Decides about one key.
///
/// A function of its arguments: it reads no clock and no store, and every input has one decision.
///
/// - Parameters:
///   - request: the request's facts.
///   - grant: the token's grant.
///   - policy: the tenant's, the content's and the key's policies, resolved by `PolicySet.policy(for:tenant:)`.
///   - key: the requested key.
///   - account: the account's stored state.
///   - now: the store's clock.
///
/// Source: `Documentation/LicenseServer.md` §6.3.
package func decide(
    _ request: LicenseRequestFacts, _ grant: Grant, _ policy: Policy, _ key: KeyFacts, _ account: AccountState,
    at now: Date
) -> Decision {
    var facts = Facts()
    (facts.request, facts.grant, facts.key, facts.account, facts.now) = (request, grant, key, account, now)
    return decide(facts, by: policy)
}

/// Decides about one key by its facts.
package func decide(_ facts: Facts, by policy: Policy) -> Decision {
    var evaluation = PolicyEvaluation(facts, policy)
    return evaluation.decision()
}
