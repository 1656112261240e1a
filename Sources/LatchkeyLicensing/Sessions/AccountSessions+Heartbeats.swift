import Foundation
import LatchkeyCore
package import LatchkeyDecision
package import LatchkeySystem
import LatchkeyVault

// Players' reports about their slots. Source: `Documentation/LicenseServer.md` §7.1.
extension AccountSessions {
    /// Answers a player's report that it plays.
    /// - Parameters:
    ///   - token: the token that came with the license.
    ///   - tenant: whose API was asked.
    package func heartbeat(_ token: String, of tenant: String) async -> HeartbeatAnswer {
        await withSlot(of: token, tenant, extending: true) { token, state, now in
            guard let index = state.slots.firstIndex(where: { $0.session == token.session }) else { return nil }
            if let device = state.slots[index].device,
                let block = self.blocks?.block(.device, device, of: tenant, at: self.timekeeper.date)
            {
                return .refused(block.refusal)
            }
            if token.life > .zero { state.slots[index].ends = max(state.slots[index].ends, now.adding(token.life)) }
            return .continues(until: state.slots[index].ends)
        }
    }

    /// A player stops: its slot is free.
    /// - Parameters:
    ///   - token: the token that came with the license.
    ///   - tenant: whose API was asked.
    /// - Returns: `nil`, also for a slot that has ended already; the refusal for a token that is not of this slot.
    package func release(_ token: String, of tenant: String) async -> LicenseRefusal? {
        let answer = await withSlot(of: token, tenant) { token, state, now in
            state.slots.removeAll { $0.session == token.session }
            return .continues(until: now)
        }
        guard case .refused(let refusal) = answer, refusal != .slotEnded else { return nil }
        return refusal
    }

    /// The account and session of a heartbeat's token; none for a token that no node of this server made for this tenant.
    package func subject(of text: String, at tenant: String) -> (account: String?, session: String?) {
        guard let token = HeartbeatToken(text, secrets), token.tenant.equalsByteForByte(tenant) else {
            return (nil, nil)
        }
        return (token.account, token.session)
    }

    /// Frees a session's slot, and lets the session begin again.
    /// - Returns: whether it had one.
    /// - Throws: `StoreError`.
    package func release(session: String, of account: String, _ tenant: String) async throws(StoreError) -> Bool {
        let name = session.storedName()
        return try await change(.account(account, tenant)) { state, now in
            let hadSlot = state.slots.contains { $0.session == name && $0.ends > now }
            state.slots.removeAll { $0.session == name }
            return hadSlot
        }
    }

    /// Changes a slot, if it is still the token's.
    /// - Parameter isExtension: whether the change extends it, which some stores can do themselves. Defaults to no.
    private func withSlot(
        of text: String, _ tenant: String, extending isExtension: Bool = false,
        _ body: (HeartbeatToken, inout AccountState, Date) -> HeartbeatAnswer?
    ) async -> HeartbeatAnswer {
        guard let token = HeartbeatToken(text, secrets), token.tenant.equalsByteForByte(tenant) else {
            return .refused(.notOurHeartbeat)
        }
        if isExtension, let block = blocks?.block(.account, token.account, of: tenant, at: timekeeper.date) {
            return .refused(block.refusal)
        }
        // A store that extends a slot itself does not say whose device it is.
        let isExtension = isExtension && blocks?.hasDevices(of: tenant) != true
        // A store that fails here fails below, too, where the failure is handled.
        if let answer = try? changeAtOnce(token.accountKey, { token.change(&$0, $1, body) }) { return answer }
        for isSecondTry in [false, true] {
            do {
                return try await answer(to: token, extending: isExtension, body)
            } catch {
                if error.isLate, !isSecondTry { continue }
                let stops = pending?.stops(of: token.account, tenant) ?? []
                if let stopped = stops.last(where: { $0.session == token.session }) {
                    return .refused(LicenseRefusal(.policy(.sessionStopped), reason: stopped.reason))
                }
                guard !error.isLate else { return .refused(.late(.sessionStore)) }
                break
            }
        }
        let reason = "The engine sessionStore is out of service."
        return .refused(LicenseRefusal(.policy(.storeUnavailable), reason: reason))
    }

    private func answer(
        to token: HeartbeatToken, extending isExtension: Bool,
        _ body: (HeartbeatToken, inout AccountState, Date) -> HeartbeatAnswer?
    ) async throws(StoreError) -> HeartbeatAnswer {
        let key = token.accountKey
        var known: RecordReading?
        if isExtension {
            let slot = SlotExtension(session: token.session, fence: token.fence, life: token.life)
            switch try await accounts[key].extend(slot, at: key) {
            case .extended(let end):
                memory.extend(token.session, at: key, until: end)
                return .continues(until: end)
            case .held(let reading): known = reading
            case nil: break
            }
        }
        return try await change(key, knowing: known) { token.change(&$0, $1, body) }
    }
}

extension HeartbeatToken {
    /// Changes the slot that the token is of, if it is still the session's.
    fileprivate func change(
        _ state: inout AccountState, _ now: Date, _ body: (HeartbeatToken, inout AccountState, Date) -> HeartbeatAnswer?
    ) -> HeartbeatAnswer {
        guard let slot = state.slots.first(where: { $0.session == session && $0.ends > now }) else {
            return .refused(state.reason(why: session))
        }
        guard slot.fence == fence else { return .refused(.slotReplaced) }
        return body(self, &state, now) ?? .refused(.slotEnded)
    }
}

extension AccountState {
    /// Why a session has no slot.
    fileprivate func reason(why session: String) -> LicenseRefusal {
        guard let stopped = stopped.first(where: { $0.session == session }) else { return .slotEnded }
        return LicenseRefusal(.policy(.sessionStopped), reason: stopped.reason)
    }
}

extension LicenseRefusal {
    /// A heartbeat whose token no node of this server made for this tenant; 401.
    package static let notOurHeartbeat = Self(
        .vendor(code: "heartbeatToken", status: 401),
        reason: "The heartbeat's token does not belong to this server and tenant.",
        remedy: "Send the token that came with the license.")

    /// A heartbeat of a slot that has ended; 410.
    package static let slotEnded = Self(
        .vendor(code: "sessionEnded", status: 410), reason: "The session's slot has ended.",
        remedy: "Get a new license, which may take a slot again.")

    /// A heartbeat of a slot that the same session lost, and has replaced by a newer one; 403.
    package static let slotReplaced = Self(
        .policy(.sessionStopped), reason: "The session has a newer slot with a different token.",
        remedy: "Send the token that came with the latest license.")
}
