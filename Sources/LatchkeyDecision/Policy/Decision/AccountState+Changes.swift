package import Foundation
import LatchkeyCore
import LatchkeyFairPlay

// The effect of licenses on an account. Pure, so that every store follows the same model.
// Source: `Documentation/LicenseServer.md` §7.1.
extension AccountState {
    /// The most slots of an account, and the most sessions whose end is remembered.
    static let mostSlots = 100
    /// The most devices, downloads and first plays each. Beyond it the oldest are forgotten.
    static let mostNames = 256
    /// How long a stopped session learns why.
    static let stopMemory = Duration.seconds(86_400)
    /// How long records without an end are kept: ten years.
    static let endless = Duration.seconds(315_360_000)

    /// The account after a change of its slots. Applying a renewal twice is applying it once.
    ///
    /// Stopped sessions leave a mark, so that they learn why.
    /// - Parameters:
    ///   - change: the change.
    ///   - now: the store's clock.
    ///   - fence: the fence of a new slot: the version that the account's record will have. Never below those of the other slots.
    package func applying(_ change: SessionChange, at now: Date, fence: Int) -> AccountState {
        var state = self
        var slot: Slot
        switch change {
        case .none: return self
        case .release(let session):
            state.slots.removeAll { $0.session == session }
            return state
        case .take(let taken, _):
            slot = taken
            slot.fence = max(fence, (slots.map(\.fence).max() ?? 0) &+ 1)
        case .renew(let renewed, _): slot = renewed
        }
        for session in change.stopping { state.stop(session, by: slot.label, at: now) }
        state.slots.removeAll { $0.session == slot.session || $0.ends <= now }
        state.slots.append(slot)
        return state
    }

    /// Frees a session's slot, and remembers why.
    package mutating func stop(_ session: String, by: String?, at now: Date) {
        slots.removeAll { $0.session == session }
        stopped.removeAll { $0.session == session }
        stopped.append(StoppedSession(session: session, by: by?.storedLabel, at: now))
    }

    /// The account without expired entries, and within the bounds of a record.
    package func kept(at now: Date) -> AccountState {
        var state = self
        state.slots = slots.filter { $0.ends > now }.newest(Self.mostSlots) { $0.fence }
        state.stopped = stopped.filter { now < $0.at.adding(Self.stopMemory) }.newest(Self.mostSlots) { $0.at }
        let window = deviceWindow ?? Policy.Devices.usualWindow
        state.devices = devices.filter { now < $0.value.adding(window) }.newest(Self.mostNames)
        if state.devices.isEmpty { state.deviceWindow = nil }
        state.firstPlays = firstPlays.newest(Self.mostNames)
        let downloads = downloads.filter { $0.ends.map { now < $0 } ?? true }
        state.downloads = Set(Array(downloads).newest(Self.mostNames) { $0.ends ?? .distantFuture })
        if let minute, now >= minute.began.adding(.seconds(60)) { state.minute = nil }
        return state
    }

    /// From when on the account may be forgotten: nothing in it counts any more.
    package func end(at now: Date) -> Date {
        let window = deviceWindow ?? Policy.Devices.usualWindow
        var ends = slots.map(\.ends) + stopped.map { $0.at.adding(Self.stopMemory) }
        ends += devices.values.map { $0.adding(window) }
        ends += downloads.map { $0.ends ?? now.adding(Self.endless) }
        if let minute { ends.append(minute.began.adding(.seconds(60))) }
        if !firstPlays.isEmpty { ends.append(now.adding(Self.endless)) }
        return ends.max() ?? now
    }
}

extension PolicyEvaluation {
    /// Whether the decision depends on the account's stored state. If not, no store is asked.
    package var needsAccount: Bool {
        countsSessions || (isStreaming && policy.concurrency.heartbeat != nil) || policy.devices.limit != nil
            || countsDownloads || policy.validity.afterFirstPlay != nil || policy.limits.licensesPerMinute != nil
    }

    /// Whether the decision depends on the first use of the token.
    package var needsToken: Bool { policy.token.singleUse == true && grant.tokenID?.isEmpty == false }

    /// The first use of the token.
    package var tokenUse: AccountState.TokenUse {
        account.tokenUse ?? AccountState.TokenUse(session: session ?? "", first: now)
    }

    /// From when on the use of the token may be forgotten: the token has ended by every node's clock.
    package var tokenEnd: Date { (grant.expires ?? now.adding(AccountState.endless)).adding(.seconds(30)) }

    /// The account after a decision.
    /// - Parameter fence: the version that its record will have.
    package func account(after decision: Decision, fence: Int) -> AccountState {
        var state = account.applying(decision.change, at: now, fence: fence)
        guard let terms = decision.terms else { return state }
        if policy.limits.licensesPerMinute != nil { state.countLicense(at: now) }
        if policy.devices.limit != nil, let device, request.playback != .leaseExpiring || state.devices[device] != nil {
            let window = policy.devices.window ?? Policy.Devices.usualWindow
            state.devices[device] = now
            state.deviceWindow = max(state.deviceWindow ?? window, window)
        }
        if policy.validity.afterFirstPlay != nil, isStreaming, state.firstPlays[content] == nil {
            state.firstPlays[content] = now
        }
        if countsDownloads {
            let ends = ValidityBounds(terms.validity).storage.map { now.adding($0) }
            state.downloads = state.downloads.filter { !isOwn($0) }
            state.downloads.insert(StoredDownload(content: content, device: downloadDevice, ends: ends))
        }
        return state
    }

    private var countsDownloads: Bool {
        !isStreaming && (policy.download.perTitle ?? policy.download.perAccount) != nil
    }
}

extension AccountState {
    fileprivate mutating func countLicense(at now: Date) {
        if let minute, now < minute.began.adding(.seconds(60)) {
            self.minute = Minute(began: minute.began, licenses: minute.licenses &+ 1)
        } else {
            minute = Minute(began: now, licenses: 1)
        }
    }
}

extension Array {
    /// The elements with the greatest values, up to a limit, in their order.
    fileprivate func newest(_ limit: Int, by value: (Element) -> some Comparable) -> Self {
        guard count > limit else { return self }
        let kept = Set(indices.sorted { value(self[$0]) > value(self[$1]) }.prefix(limit))
        return indices.filter(kept.contains).map { self[$0] }
    }
}

extension [String: Date] {
    /// The names with the latest dates, up to a limit.
    fileprivate func newest(_ limit: Int) -> Self {
        guard count > limit else { return self }
        let newest = sorted { ($0.value, $0.key) > ($1.value, $1.key) }.prefix(limit)
        return Self(newest.map { ($0.key, $0.value) }) { first, _ in first }
    }
}
