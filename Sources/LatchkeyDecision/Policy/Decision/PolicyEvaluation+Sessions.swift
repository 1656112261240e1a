import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms

extension PolicyEvaluation {
    /// A slot without lease or heartbeat lives for a day: nothing else would end it.
    private static let usualLife = Duration.seconds(86_400)
    private static let usualGrace = Duration.seconds(20)

    /// Whether streams are counted: downloads and stored keys take no slot.
    var countsSessions: Bool {
        isStreaming && (policy.concurrency.limit != nil || policy.concurrency.perClass?.isEmpty == false)
    }

    /// The change that a license makes; a refusal if it has to wait for others.
    mutating func sessionChange(_ terms: LicenseTerms) -> SessionChange {
        guard isStreaming else { return .none }
        if countsSessions, let session, let stopped = account.newestStop(of: session) {
            refuse(.sessionStopped, stopped.reason)
            return .none
        }
        guard let session else {
            if countsSessions, policy.concurrency.mode != .count {
                refuse(.sessionMissing, "The request names no session, but sessions are counted.")
            }
            return .none
        }
        let own = account.slots.filter { $0.session == session && $0.ends > now }.max(by: Slot.isOlder)
        let slot = slot(session, own, terms)
        let stopping = room(for: slot, own)
        return own == nil ? .take(slot, stopping: stopping) : .renew(slot, stopping: stopping)
    }

    package var grace: Duration { policy.concurrency.grace ?? Self.usualGrace }

    /// The slot as it will be: with the classes of its keys, and never an earlier end.
    private func slot(_ session: String, _ own: Slot?, _ terms: LicenseTerms) -> Slot {
        // No heartbeat token is issued while the store is out.
        let life: Duration =
            if let heartbeat = policy.concurrency.heartbeat, !isSessionStoreOut { heartbeat * 2 } else {
                terms.lease ?? Self.usualLife
            }
        let ends = now.adding(life + grace)
        guard var slot = own else {
            return Slot(
                session: session, device: device, label: grant.label?.storedLabel,
                profile: grant.profile?.storedName(), drm: request.drm, content: content, tracks: [facts.key.track],
                fence: 0,
                started: now, ends: ends)
        }
        slot.drm = request.drm
        slot.ends = max(slot.ends, ends)
        slot.tracks.insert(facts.key.track)
        return slot
    }

    /// Makes room for a session, by the policy's mode, and gives the sessions that end for it, the oldest first.
    private mutating func room(for slot: Slot, _ own: Slot?) -> [String] {
        let others = account.slots.filter { $0.ends > now && $0.session != slot.session }.sorted(by: Slot.isOlder)
        // A renewal replaces nothing: two players of one device that both run would stop each other in turn.
        let leaving = others.filter { other in
            request.stopCodes.contains(other.stopCode)
                || (countsSessions && own == nil && slot.device != nil && slot.device == other.device)
        }
        var stopping = leaving.map(\.session)
        if !leaving.isEmpty { note(.replaced, "Sessions replaced by this one: \(leaving.count).") }
        guard countsSessions else { return stopping }
        // The class first: a session that it stops makes room in all.
        for (group, limit) in (policy.concurrency.perClass ?? [:]).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let classes = group.classes
            guard classes.contains(facts.key.track), own?.tracks.isDisjoint(with: classes) != false else { continue }
            let counted = others.filter { !$0.tracks.isDisjoint(with: classes) }
            makeRoom(
                among: counted.filter { isCounted($0, with: slot) }, limit: limit, of: "of class \(group.rawValue) ",
                &stopping)
        }
        let isNew = own.map { policy.concurrency.scope == .trackClass && !$0.tracks.contains(facts.key.track) } ?? true
        if let limit = policy.concurrency.limit, isNew {
            makeRoom(among: others.filter { isCounted($0, with: slot) }, limit: limit, of: "", &stopping)
        }
        if own == nil { makeRoom(among: others, limit: AccountState.mostSlots, of: "of the account ", &stopping) }
        return stopping
    }

    private mutating func makeRoom(
        among others: [Slot], limit: Int, of kind: String, _ stopping: inout [String]
    ) {
        let running = others.filter { !stopping.contains($0.session) }
        guard running.count >= limit else { return }
        switch policy.concurrency.mode ?? .refuseNewest {
        case .count: note(.overLimit, "Streams \(kind)already running: \(running.count). The limit is \(limit).")
        case .stopOldest:
            let oldest = running.prefix(running.count - limit + 1).map(\.session)
            note(.stopped, "Streams \(kind)stopped for this one: \(oldest.count).")
            stopping += oldest
        case .refuseNewest:
            refuse(
                .sessionLimit, "Streams \(kind)already running: \(running.count). The limit is \(limit).",
                conflicts: running.map(SessionConflict.init))
        }
    }

    private func isCounted(_ other: Slot, with slot: Slot) -> Bool {
        switch policy.concurrency.scope ?? .account {
        case .account: true
        case .profile: other.profile == slot.profile
        case .title: other.content == slot.content
        case .trackClass: other.tracks.contains(facts.key.track)
        }
    }
}

extension StoppedSession {
    /// Why the session gets no license.
    package var reason: String {
        let who = by.map { "“\($0.prefix(60))”".onOneLine } ?? "another session"
        return "The session was stopped by \(who) at \(DateText.text(at))."
    }
}

extension Slot {
    /// The order of fences, and of sessions where a store gave equal ones, so that the order in which slots come never matters.
    fileprivate static func isOlder(_ one: Slot, _ other: Slot) -> Bool {
        (one.fence, one.session) < (other.fence, other.session)
    }
}
