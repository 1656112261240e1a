package import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeySystem

/// One decision in the making: facts, the narrowed policy, and the findings so far.
package struct PolicyEvaluation {
    package private(set) var facts: Facts
    package private(set) var policy: Policy
    private(set) var refusals: [LicenseRefusal] = []
    private(set) var notes: [PolicyNote]
    /// An upper bound of the lease, besides the terms.
    var longestLease: Duration?

    package init(_ facts: Facts, _ policy: Policy) {
        self.facts = facts
        let narrowed = policy.narrowed(to: facts.grant.policy)
        (self.policy, notes) = (narrowed.policy, narrowed.notes)
    }

    /// Takes in the account's stored state, and the store's time. The policy is narrowed already: neither changes that.
    package mutating func learn(_ account: AccountState, at now: Date) {
        facts.account = account
        facts.now = now
    }

    var request: LicenseRequestFacts { facts.request }
    package var grant: Grant { facts.grant }
    package var account: AccountState { facts.account }
    var now: Date { facts.now }
    var isStreaming: Bool { request.purpose == .stream }
    /// The customer's name of a device counts before the SPC's, which an app may have randomized.
    var device: String? { (grant.device ?? request.device)?.storedName() }
    var content: String { facts.key.content.storedName() }
    /// Never the device alone: it may be randomized, and plays one thing after another.
    var session: String? {
        let name =
            grant.session.ifNotEmpty ?? request.session?.description ?? request.sessionName.ifNotEmpty
            ?? grant.tokenID.ifNotEmpty
        return name?.storedName()
    }

    mutating func note(_ code: PolicyNote.Code, _ text: String) { notes.append(PolicyNote(code, text)) }

    mutating func refuse(
        _ kind: LicenseRefusal.Kind, _ reason: String, section: Policy.Section? = nil, retryAfter: Duration? = nil,
        conflicts: [SessionConflict] = [], leavesOut: Bool = false
    ) {
        let message = (section ?? kind.section).flatMap { policy.messages?[$0] }
        refusals.append(
            LicenseRefusal(
                kind, reason: reason, message: message, retryAfter: retryAfter, conflicts: conflicts,
                leavesOut: leavesOut))
    }

    mutating func refuse(_ objection: PolicyObjection, _ reason: String, section: Policy.Section? = nil) {
        refuse(.policy(objection), reason, section: section)
    }

    /// Applies the rule of an engine that is out of service.
    /// - Returns: whether it is, and nothing more can be asked of it.
    mutating func isOut(_ engine: Engine, _ rule: OutageRule) -> Bool {
        guard account.outages.contains(engine) else { return false }
        let bound = EngineRole(rawValue: engine.rawValue)?.boundInOutage.map { "; \($0)" } ?? "."
        let away = "The engine \(engine.rawValue) is out of service"
        switch rule {
        case .allow: note(.outage, "\(away); the policy is applied without it\(bound)")
        case .allowFor(let lease):
            longestLease = min(longestLease ?? lease, lease)
            note(.outage, "\(away); the lease is \(DurationText.text(lease)) at most\(bound)")
        case .refuse: refuse(.storeUnavailable, "\(away).")
        }
        return true
    }

    /// The rules in their fixed order, which is that of the reasons: the cheapest and least revealing first.
    package mutating func decision() -> Decision {
        if request.playback == .stopped { return .acknowledge(released, notes: notes) }
        checkRate()
        checkToken()
        checkBlocks()
        checkTime()
        checkRights()
        checkPlace()
        checkClient()
        checkClearKey()
        checkTracks()
        let terms = terms()
        checkDevices()
        checkDownloads()
        let change = sessionChange(terms)
        let reasons = refusals.map { PolicyNote(.refused, "\($0.code): \($0.reason)") }
        if let first = refusals.first { return .refuse(first, .none, notes: reasons + notes) }
        return .license(
            terms, change, renewAfter: renewal(of: terms),
            delivers: request.playback == .playing ? .duration : .keyAndDuration, notes: notes)
    }

    private var released: SessionChange {
        guard let session, account.slots.contains(where: { $0.session == session }) else { return .none }
        return .release(session)
    }

    /// When to renew: a part of the lease, earlier by a part that the session determines, so that renewals spread.
    private func renewal(of terms: LicenseTerms) -> Duration? {
        guard let lease = terms.lease else { return nil }
        let hash = (session ?? device ?? "").utf8.stableHash()
        let spread = (policy.validity.jitter ?? 0.1) * Double((hash ^ (hash >> 32)) & 0xffff) / 65_536
        let part = (policy.validity.renewAt ?? 0.8) * (1 - spread)
        return Duration(clampingSeconds: max(1, (lease.inSeconds * part).rounded(.down)))
    }
}

extension String? {
    fileprivate var ifNotEmpty: String? { self?.isEmpty == false ? self : nil }
}

extension Date {
    /// The time from an earlier date, clamped; negative if that is later.
    func since(_ earlier: Date) -> Duration { Duration(clampingSeconds: timeIntervalSince(earlier)) ?? .zero }

    package func adding(_ duration: Duration) -> Date { addingTimeInterval(duration.clamped.inSeconds) }
}
