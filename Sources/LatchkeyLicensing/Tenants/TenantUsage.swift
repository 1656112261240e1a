package import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyVault

/// How much of its limits a tenant uses, as far as this node knows.
///
/// All nodes' use is exchanged every few seconds, and counted here meanwhile: so a limit of sessions or licenses may be passed by the other
/// nodes' grants in that time, and by no more. A renewal of a running playback is counted and never refused.
///
/// Source: `Documentation/Server/Tenants.md`.
package final class TenantUsage: Sendable {
    /// A day's licenses.
    private struct Day {
        /// Of other processes, when the store was last asked; `nil` if it never answered.
        var others: Int?
        /// Of this process.
        var own = 0
        /// How many of them the store has.
        var told = 0

        var licenses: Int { (others ?? 0) + own }
    }

    private struct State {
        /// Slots in use when the store was last asked, at least, and slots taken here since then.
        var sessions: RecordCount?
        var taken = 0
        /// Slots that are being taken: the store's count may or may not have them yet.
        var underWay = 0
        var days: [String: Day] = [:]
        var keys: Int?
        var isNear: Set<TenantLimit> = []

        var sessionsInUse: Int { (sessions?.value ?? 0) + taken + underWay }
    }

    /// The part of a limit from which it is near, and worth a notice.
    package static let near = 0.8
    /// Below which part of a limit it is no longer near.
    package static let away = 0.75
    /// The name of this process, among the processes that share a store.
    package let process = String(UInt64.random(in: .min ... .max), radix: 16)
    private let state = Locked(State())
    private let refused: @Sendable (TenantLimit) -> Void

    /// - Parameter refused: called for each refusal; must not wait. Defaults to nothing.
    package init(refused: @escaping @Sendable (TenantLimit) -> Void = { _ in }) { self.refused = refused }

    /// Counts a license, or returns the limit that it exceeds.
    fileprivate func take(_ use: SlotUse, _ limits: TenantSettings.Limits, at date: Date) -> TenantLimit? {
        // The text of a date costs as much as half a decision.
        let today = limits.licensesPerDay.map { (limit: $0, name: Self.day(date)) }
        return state.withLock { state in
            if use == .another, let limit = limits.sessions, state.sessionsInUse >= limit { return .sessions }
            if use != .renewed, let today, state.days[today.name]?.licenses ?? 0 >= today.limit {
                return .licensesPerDay
            }
            if use == .another { state.underWay += 1 }
            if let today { state.days[today.name, default: Day()].own += 1 }
            return nil
        }
    }

    fileprivate func keep(_ use: SlotUse) {
        guard use == .another else { return }
        state.withLock { state in
            state.underWay -= 1
            state.taken += 1
        }
    }

    /// - Parameter isKept: whether the store's count may have the slot.
    fileprivate func giveBack(_ use: SlotUse, isKept: Bool, at date: Date) {
        state.withLock { state in
            if use == .another {
                if isKept { state.taken = max(0, state.taken - 1) } else { state.underWay -= 1 }
            }
            // A past day whose licenses were shared is no longer here.
            if let day = state.days[Self.day(date)] { state.days[Self.day(date)]?.own = max(0, day.own - 1) }
        }
    }

    /// The refusal of a request beyond a limit, which is counted.
    /// - Parameter wait: after how long it may come again.
    package func refusal(_ limit: TenantLimit, wait: Duration) -> LicenseRefusal {
        refused(limit)
        return LicenseRefusal(
            .vendor(code: limit.code, status: 429), reason: limit.reason,
            remedy: "Try again later, or ask the server's operator to raise the tenant's limit.", retryAfter: wait)
    }

    /// Counts a refusal made elsewhere.
    package func countRefusal(_ limit: TenantLimit) { refused(limit) }
}

// The nodes' exchange.
extension TenantUsage {
    /// Slots taken here since the last count.
    package var taken: Int { state.withLock { $0.taken } }

    /// - Parameters:
    ///   - sessions: the slots in use, by the store.
    ///   - taken: the value of ``taken`` before the store was asked: the count has those slots.
    package func learn(sessions: RecordCount, including taken: Int) {
        state.withLock { state in
            state.sessions = sessions
            state.taken = max(0, state.taken - taken)
        }
    }

    /// This process's licenses of today, and of each day that the store does not fully have.
    package func licenses(at date: Date) -> [String: Int] {
        state.withLock { state in
            let today = Self.day(date)
            state.days = state.days.filter { $0.key == today || $0.value.own != $0.value.told }
            return state.days.mapValues(\.own).merging([today: 0]) { own, _ in own }
        }
    }

    /// - Parameters:
    ///   - others: other processes' licenses of a day.
    ///   - day: the day.
    ///   - own: this one's, which the store has now.
    package func learn(others: Int, of day: String, telling own: Int) {
        state.withLock { state in
            state.days[day, default: Day()].others = others
            state.days[day]?.told = own
        }
    }

    /// - Parameter keys: the content keys in the store.
    package func learn(keys: Int) { state.withLock { $0.keys = keys } }

    /// How much of a limit is used.
    package struct Use: Sendable, Hashable {
        package let value: Int
        /// Whether the number is exact; otherwise it is a lower bound.
        package let isWhole: Bool

        fileprivate init(_ value: Int, isWhole: Bool = true) { (self.value, self.isWhole) = (value, isWhole) }

        fileprivate func reaches(_ part: Double, of bound: Int) -> Bool { Double(value) >= Double(bound) * part }
    }

    /// How much of its limits is used; without limits that were not counted yet.
    package func used(_ limits: TenantSettings.Limits, at date: Date) -> [TenantLimit: Use] {
        state.withLock { state in
            var used: [TenantLimit: Use] = [:]
            if limits.sessions != nil, let sessions = state.sessions {
                used[.sessions] = Use(state.sessionsInUse, isWhole: sessions.isWhole)
            }
            if limits.licensesPerDay != nil, let day = state.days[Self.day(date)], day.others != nil {
                used[.licensesPerDay] = Use(day.licenses)
            }
            if limits.keys != nil { used[.keys] = state.keys.map { Use($0) } }
            return used
        }
    }

    /// A notice to operators before the bound is reached, for each limit that is near.
    package func notices(
        _ tenant: String, _ limits: TenantSettings.Limits, at date: Date
    ) -> [(limit: TenantLimit, text: String)] {
        used(limits, at: date).sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { limit, use in
            guard let bound = limits[limit], use.reaches(Self.near, of: bound) else { return nil }
            let used = use.isWhole ? "\(use.value)" : "At least \(use.value)"
            return (
                limit,
                "tenants.\(tenant).limits.\(limit.rawValue): \(used) of \(bound) are used. Raise the limit, or expect refusals with \(limit.code)."
            )
        }
    }

    /// The notices of limits that came near since the last call, one each time. A limit is near until less than ``away`` of it is used, so
    /// that a limit at the edge is not reported again and again.
    package func news(_ tenant: String, _ limits: TenantSettings.Limits, at date: Date) -> [String] {
        let (used, notices) = (used(limits, at: date), notices(tenant, limits, at: date))
        return state.withLock { state in
            let former = state.isNear.filter { limit in
                limits[limit].map { used[limit]?.reaches(Self.away, of: $0) ?? true } ?? false
            }
            state.isNear = former.union(notices.map(\.limit))
            return notices.filter { !former.contains($0.limit) }.map(\.text)
        }
    }

    /// The day of a date in UTC, such as `2026-11-27`.
    package static func day(_ date: Date) -> String { String(DateText.text(date).prefix(10)) }

    fileprivate static func untilTomorrow(_ date: Date) -> Duration {
        .seconds(86_400 - date.timeIntervalSince1970.truncatingRemainder(dividingBy: 86_400))
    }
}

/// The limits of a tenant, at the time of a request.
struct TenantBound: DecisionBound {
    /// The limit that a license exceeds, and after how long it may come again.
    struct Excess: Error {
        let limit: TenantLimit
        let wait: Duration
    }

    private let usage: TenantUsage
    private let limits: TenantSettings.Limits
    private let date: Date

    init(_ usage: TenantUsage, _ limits: TenantSettings.Limits, at date: Date) {
        (self.usage, self.limits, self.date) = (usage, limits, date)
    }

    func take(_ use: SlotUse) -> Excess? {
        usage.take(use, limits, at: date).map { limit in
            Excess(limit: limit, wait: limit == .sessions ? .seconds(60) : TenantUsage.untilTomorrow(date))
        }
    }

    func keep(_ use: SlotUse) { usage.keep(use) }

    func giveBack(_ use: SlotUse) { usage.giveBack(use, isKept: false, at: date) }

    /// Gives back the room of a license that was kept and cannot be sent.
    func undo(_ use: SlotUse) { usage.giveBack(use, isKept: true, at: date) }
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
        case .requestsPerSecond: "The tenant's players send too many requests."
        case .sessions: "The tenant has reached its limit of concurrent viewers."
        case .keys: "The tenant has reached its limit of keys."
        case .licensesPerDay: "The tenant has reached its limit of licenses per day."
        }
    }
}
