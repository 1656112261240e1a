import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyVault

// Slots for licenses that other services make, by the same tokens, policies, stores and refusals. Source: `Documentation/Server/Slots.md`.
extension LicenseIssuer {
    /// The terms of a slot for a license that another service makes.
    struct GrantedSlot: Sendable {
        fileprivate let booked: BookedDecision
        fileprivate let terms: LicenseTerms
        fileprivate let renewAfter: Duration?
        let taken: TakenRoom

        static let schema = JSONSchema.named(
            "Slot",
            [
                "drm": JSONForm<LicenseRequestFacts.DRM>.label.schema.named("DRM"),
                "state": .words(["taken", "renewed", "uncounted"]).explained(
                    "taken: give it back if no license is issued. renewed: the session already had it. uncounted: the policy counts nothing, "
                        + "or the session store does not answer and the policy allows a short lease."),
                "session?": .text.explained("The session under which the slot is counted."),
                "slot?": .text.explained("The slot's stop code."),
                "until?": .date.explained("The time at which the slot stops counting."),
                "heartbeatToken?": .text.explained("The token for heartbeats and for giving the slot back."),
                "heartbeat?": .positive.explained(
                    "Seconds between heartbeats; absent if slots last as long as leases."),
                "lease?": .positive.explained(
                    "The license's maximum duration in seconds; absent without a limit."),
                "renewAfter?": .positive.explained(
                    "Seconds after which to take the slot again, with the next license."),
                "hdcp?": JSONForm<HDCPRequirement>.word.schema.explained(
                    "The output protection that the license must require; absent if the policy does not state it."),
            ])

        /// The answer to the caller.
        func json(for drm: LicenseRequestFacts.DRM) -> JSONValue {
            let seconds = { (duration: Duration) in JSONValue.number(duration.inSeconds.rounded(.down)) }
            var members: [String: JSONValue] = [
                "drm": .text(drm.label),
                "state": .text(booked.slot == nil ? "uncounted" : booked.isTaken ? "taken" : "renewed"),
            ]
            members["session"] = booked.slot.map { .text($0.session) }
            members["slot"] = booked.slot.map { .text($0.stopCode) }
            members["until"] = booked.slot.map { .text(DateText.text($0.ends)) }
            members["heartbeatToken"] = booked.heartbeatToken.map { .text($0) }
            members["heartbeat"] = booked.heartbeat.map(seconds)
            members["lease"] = terms.lease.map(seconds)
            members["renewAfter"] = renewAfter.map(seconds)
            members["hdcp"] = terms.hdcp.map { .text($0.rawValue) }
            return .object(members)
        }
    }

    /// Decides whether another service may make a license, and takes or renews the session's slot.
    func slot(
        _ request: SlotRequest, of tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> GrantedSlot {
        report.drm = request.drm
        var facts = Facts()
        facts.grant = try await grant(request.token, of: tenant, &report)
        facts.key = try await key(request, of: tenant, &report)
        facts.request = request.facts
        facts.request.tenant = tenant.name
        if let device = request.device { facts.request.device = try Self.digest(of: Secret(device), tenant) }
        if let callout = tenant.callout { try await entitle(&facts, callout) }
        let taken = TakenRoom(accounts)
        let booked = try await decision(facts, tenant, taken, &report)
        guard case .license(let terms, _, let renewAfter, _, _) = booked.decision else {
            throw booked.decision.refusal ?? .malformed("The session is over.")
        }
        report.end(.answer, at: timekeeper.uptime)
        note(terms, of: facts.grant, &report)
        return GrantedSlot(booked: booked, terms: terms, renewAfter: renewAfter, taken: taken)
    }

    /// The facts of a key or an asset that the policies need.
    private func key(
        _ request: SlotRequest, of tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> KeyFacts {
        defer { report.end(.key, at: timekeeper.uptime) }
        guard let name = request.keyName else { throw .malformed("The request names neither a key nor an asset.") }
        report.kid = request.kid
        do throws(LicenseRefusal) {
            let key = try await tenant.key(name)
            report.found(key)
            return key.facts
        } catch {
            // Unknown content that was packaged elsewhere has only the tenant's policy.
            guard let asset = request.asset, error.kind == .unknownKey else { throw error }
            var facts = KeyFacts()
            (facts.content, facts.track) = (asset, request.track ?? .all)
            return facts
        }
    }
}

extension SlotRequest {
    fileprivate var keyName: KeyName? {
        kid.map { .kid($0, content.flatMap { ContentName($0) }) }
            ?? asset.flatMap { ContentName($0) }.map { .content($0) }
    }
}
