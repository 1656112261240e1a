package import Foundation
package import LatchkeyCore

/// What becomes of a license request.
///
/// Source: `Documentation/LicenseServer.md` §6.3.
package enum Decision: Sendable, Equatable {
    /// A license on these terms.
    /// - `SessionChange`: what changes in the account's slots.
    /// - `renewAfter`: when the player renews; `nil` if it need not.
    /// - `delivers`: what the CKC has to carry.
    case license(LicenseTerms, SessionChange, renewAfter: Duration?, delivers: Delivery, notes: [PolicyNote])
    /// No license. The notes hold every reason; the refusal is the first.
    case refuse(LicenseRefusal, SessionChange, notes: [PolicyNote])
    /// The player stopped: its slot is free, and it needs neither license nor refusal.
    case acknowledge(SessionChange, notes: [PolicyNote])

    /// What a CKC has to carry, by the player's state.
    package enum Delivery: String, Sendable, Hashable, CaseIterable {
        case keyAndDuration
        /// The player has the key; it may come along.
        case duration
    }

    /// What changes in the account's slots.
    package var change: SessionChange {
        switch self {
        case .license(_, let change, _, _, _), .refuse(_, let change, _), .acknowledge(let change, _): change
        }
    }

    /// What the decision came upon, reasons to refuse first.
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

    /// The refusal; `nil` if there is none.
    package var refusal: LicenseRefusal? {
        guard case .refuse(let refusal, _, _) = self else { return nil }
        return refusal
    }

    /// `license`, `acknowledge`, or the refusal's code: what a policy's example expects.
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
///   - request: what the request says.
///   - grant: what the token gives.
///   - policy: the tenant's, the content's and the key's policies, resolved by `PolicySet.policy(for:tenant:)`.
///   - key: the key that is asked for.
///   - account: what is kept of the account.
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
    var deliberation = PolicyEvaluation(facts, policy)
    return deliberation.decision()
}
