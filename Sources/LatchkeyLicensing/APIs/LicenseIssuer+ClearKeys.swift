package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyVault

// Keys for browsers, which get them without protection on the device. Source: `Documentation/LicenseServer.md` §10.
extension LicenseIssuer {
    /// Keys for a browser.
    package struct ClearKeys: Sendable {
        /// The keys that policy grants, at least one.
        package internal(set) var keys: [(KeyID, ContentKey)] = []
        /// When the page should ask again, the only effect of a lease here; `nil` if it need not.
        package internal(set) var renewAfter: Duration?
        /// The token for heartbeats and for ending the session; `nil` where sessions are not counted.
        package internal(set) var heartbeatToken: String?
        /// How often the page sends it; `nil` if sessions live by leases.
        package internal(set) var heartbeat: Duration?
        let taken: TakenRoom
    }

    /// Keys for a browser, without protection on the device: those of the keys that policy grants.
    ///
    /// Source: `Documentation/LicenseServer.md` §10.
    package func clearKeys(
        _ kids: [KeyID], token: String?, viewer: LicenseRequestFacts, of tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> ClearKeys {
        guard tenant.settings.allowsClearKey else { throw .clearKeyIsOff }
        let grant = try await self.grant(token, of: tenant, &report)
        var answer = ClearKeys(taken: TakenRoom(accounts))
        var refused: LicenseRefusal?
        // The decision that the report shows: the first that began a playback or ended another, else the first with a license.
        var shown: (kid: KeyID, record: DecisionRecord?)?
        for kid in kids {
            report.kid = kid
            do throws(LicenseRefusal) {
                try await addClearKey(kid, to: &answer, grant, viewer, tenant, &report)
                if shown == nil || report.record?.begins == true && shown?.record?.begins != true {
                    shown = (kid, report.record)
                }
            } catch {
                refused = refused ?? error
            }
        }
        guard let shown else { throw refused ?? .malformed("The request names no key.") }
        (report.kid, report.record) = (shown.kid, shown.record)
        return answer
    }

    private func addClearKey(
        _ kid: KeyID, to answer: inout ClearKeys, _ grant: Grant, _ viewer: LicenseRequestFacts, _ tenant: Tenant,
        _ report: inout LicenseReport
    ) async throws(LicenseRefusal) {
        var facts = Facts()
        let key = try await tenant.key(kid, content: nil)
        report.found(key)
        (facts.request, facts.grant, facts.key) = (viewer, grant, key.facts)
        (facts.request.tenant, facts.request.drm) = (tenant.name, .clearKey)
        if let callout = tenant.callout { try await entitle(&facts, callout) }
        let outcome = try await decision(facts, tenant, answer.taken, &report)
        if case .refuse(let refusal, _, _) = outcome.decision { throw refusal }
        answer.keys.append((kid, key.content))
        if case .license(_, _, let renewAfter?, _, _) = outcome.decision {
            answer.renewAfter = min(answer.renewAfter ?? renewAfter, renewAfter)
        }
        answer.heartbeatToken = outcome.heartbeatToken ?? answer.heartbeatToken
        answer.heartbeat = outcome.heartbeat ?? answer.heartbeat
    }
}

extension LicenseRefusal {
    static let clearKeyIsOff = Self(
        .policy(.right), reason: "Clear Key is not enabled for this tenant.",
        remedy: "Play with FairPlay, or ask the operator to enable it; it does not protect keys on the device.")
}

extension DecisionRecord {
    /// Whether a playback began with the decision, or one ended.
    fileprivate var begins: Bool {
        guard let (_, decision) = made else { return false }
        if case .take = decision.change { return true }
        return !decision.change.stopping.isEmpty
    }
}
