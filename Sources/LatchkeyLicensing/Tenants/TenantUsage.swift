package import Foundation
import LatchkeyCore
import LatchkeyForms
package import LatchkeyOperation
package import LatchkeyPolicy

/// How much of its limits a tenant uses, as far as this node knows.
///
/// What all nodes use together is exchanged every few seconds, and counted here meanwhile: so a limit of sessions or licenses may be passed by
/// what the other nodes grant in that time, and by no more. A renewal of a playback that runs is counted and never refused.
///
/// Source: `Documentation/Server/Tenants.md`.
package final class TenantUsage: Sendable {
    /// A day's licenses.
    private struct Day {
        /// Of all nodes, when they were last asked.
        var known = 0
        /// Of this node, which the others do not know yet.
        var own = 0
    }

    private struct State {
        /// Slots in use when the store was last asked, and those that were taken here since then.
        var sessions = 0
        var taken = 0
        var days: [String: Day] = [:]
        var keys: Int?
        var isNear: Set<TenantLimit> = []
    }

    /// What part of a limit is near it, and worth a word.
    package static let near = 0.8
    private let state = Locked(State())
    private let refused: @Sendable (TenantLimit) -> Void

    /// - Parameter refused: is told of each refusal; must not wait. Defaults to nobody.
    package init(refused: @escaping @Sendable (TenantLimit) -> Void = { _ in }) { self.refused = refused }

    /// Counts what a decision grants, or says why it is beyond a limit.
    /// - Returns: the refusal, with which nothing was counted; `nil` if the decision stands.
    func refusal(
        of booked: BookedDecision, _ limits: TenantSettings.Limits, at date: Date
    ) -> LicenseRefusal? {
        guard limits.sessions != nil || limits.licensesPerDay != nil,
            case .license(_, let change, _, _, _) = booked.decision
        else { return nil }
        // Whoever stops another session makes room for itself.
        var isNewSession = false
        if case .take(_, stopping: []) = change, booked.isTaken { isNewSession = true }
        let isRenewal = booked.slot != nil && !booked.isTaken
        let day = Self.day(date)
        let beyond: TenantLimit? = state.withLock { state in
            if isNewSession, let limit = limits.sessions, state.sessions + state.taken >= limit { return .sessions }
            let used = state.days[day].map { $0.known + $0.own } ?? 0
            if !isRenewal, let limit = limits.licensesPerDay, used >= limit { return .licensesPerDay }
            if isNewSession { state.taken += 1 }
            if limits.licensesPerDay != nil { state.days[day, default: Day()].own += 1 }
            return nil
        }
        guard let beyond else { return nil }
        return refusal(beyond, wait: beyond == .sessions ? .seconds(60) : Self.untilTomorrow(date))
    }

    /// The refusal of a request beyond a limit, which is counted.
    /// - Parameter wait: after how long it may come again.
    package func refusal(_ limit: TenantLimit, wait: Duration) -> LicenseRefusal {
        refused(limit)
        return LicenseRefusal(
            .vendor(code: limit.code, status: 429), reason: limit.reason,
            remedy: "Try again later, or have the server's operator raise the tenant's limit.", retryAfter: wait)
    }

    /// Counts a refusal that somebody else makes.
    package func countRefusal(_ limit: TenantLimit) { refused(limit) }
}

// What the nodes exchange.
extension TenantUsage {
    /// Slots taken here since the last count.
    package var taken: Int { state.withLock { $0.taken } }

    /// - Parameters:
    ///   - sessions: the slots in use, by the store.
    ///   - taken: what ``taken`` was before the store was asked: the count has those.
    package func learn(sessions: Int, including taken: Int) {
        state.withLock { state in
            state.sessions = sessions
            state.taken = max(0, state.taken - taken)
        }
    }

    /// How many licenses of each day the other nodes do not know, and the days that are asked for: that of the date and those with some.
    package func unshared(at date: Date) -> [String: Int] {
        state.withLock { state in
            state.days = state.days.filter { $0.key == Self.day(date) || $0.value.own > 0 }
            var days = state.days.mapValues(\.own)
            days[Self.day(date), default: 0] += 0
            return days
        }
    }

    /// - Parameters:
    ///   - licenses: those of a day, of all nodes.
    ///   - shared: how many of this node's are in it that were not known before.
    package func learn(licenses: Int, of day: String, including shared: Int) {
        state.withLock { state in
            state.days[day, default: Day()].known = licenses
            state.days[day]?.own -= shared
        }
    }

    /// - Parameter keys: the content keys in the store.
    package func learn(keys: Int) { state.withLock { $0.keys = keys } }

    /// How much of its limits is used; without those that nobody counted yet.
    package func used(_ limits: TenantSettings.Limits, at date: Date) -> [TenantLimit: Int] {
        state.withLock { state in
            var used: [TenantLimit: Int] = [:]
            if limits.sessions != nil { used[.sessions] = state.sessions + state.taken }
            if limits.licensesPerDay != nil {
                used[.licensesPerDay] = state.days[Self.day(date)].map { $0.known + $0.own } ?? 0
            }
            if limits.keys != nil { used[.keys] = state.keys }
            return used
        }
    }

    /// What an operator should know before the bound is reached, one sentence for each limit that is near.
    package func notices(_ tenant: String, _ limits: TenantSettings.Limits, at date: Date) -> [String] {
        used(limits, at: date).sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { limit, used in
            guard let bound = limits[limit], Double(used) >= Double(bound) * Self.near else { return nil }
            return
                "tenants.\(tenant).limits.\(limit.rawValue): \(used) of \(bound) are used. Raise the limit, or expect refusals with \(limit.code)."
        }
    }

    /// The limits that came near since they were last asked for, to say so once each time.
    package func news(_ limits: TenantSettings.Limits, at date: Date) -> Set<TenantLimit> {
        let near = Set(
            used(limits, at: date).filter { limit, used in
                limits[limit].map { Double(used) >= Double($0) * Self.near } ?? false
            }.keys)
        return state.withLock { state in
            defer { state.isNear = near }
            return near.subtracting(state.isNear)
        }
    }

    /// The day of a date in UTC, such as `2026-11-27`.
    package static func day(_ date: Date) -> String { String(DateText.text(date).prefix(10)) }

    private static func untilTomorrow(_ date: Date) -> Duration {
        .seconds(86_400 - date.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400))
    }
}

extension TenantLimit {
    /// The code of refusals.
    package var code: String {
        switch self {
        case .requestsPerSecond: "tenantRequestLimit"
        case .sessions: "tenantSessionLimit"
        case .keys: "tenantKeyLimit"
        case .licensesPerDay: "tenantLicenseLimit"
        }
    }

    fileprivate var reason: String {
        switch self {
        case .requestsPerSecond: "The tenant's players ask too often."
        case .sessions: "As many of the tenant's viewers play as may play at once."
        case .keys: "The tenant has as many keys as it may have."
        case .licensesPerDay: "The tenant has had as many licenses as it may have in a day."
        }
    }
}
