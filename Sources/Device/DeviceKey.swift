public import Foundation
public import LatchkeyCore

/// A moment by both of a device's clocks.
public struct DeviceTime: Sendable, Hashable {
    /// The date. What is stored counts by it, because it outlives a restart.
    public let date: Date
    /// The time since an arbitrary start. Streaming counts by it, because nobody can set it back.
    public let uptime: Duration

    /// Reads a timekeeper's clocks.
    public init(_ timekeeper: any Timekeeper) {
        self.init(date: timekeeper.date, uptime: timekeeper.uptime)
    }

    init(date: Date, uptime: Duration) {
        self.date = date
        self.uptime = uptime
    }
}

/// A content key that a device took out of a CKC, and how long it may be used.
///
/// A lease ends playback when its time is over. A rental ends only the starting of it: what has started goes on. A key
/// that is stored for a time is like a rental. With dual expiry the first window ends the starting of playback, and the
/// second, from the first start on, ends playback itself.
///
/// Source: `fps-protocol.md` §7, behavior of key types.
public struct DeviceKey: Sendable, Hashable {
    /// The key and IV that decrypt the media.
    public let contentKey: ContentKey
    /// The terms that the CKC stated.
    public let terms: LicenseTerms
    /// When the CKC was taken.
    public let acceptedAt: DeviceTime
    /// When playback first started with it; nil before.
    public private(set) var startedAt: DeviceTime?

    init(contentKey: ContentKey, terms: LicenseTerms, acceptedAt: DeviceTime, startedAt: DeviceTime? = nil) {
        self.contentKey = contentKey
        self.terms = terms
        self.acceptedAt = acceptedAt
        self.startedAt = startedAt
    }

    /// Whether playback may start now.
    public func canStart(at timekeeper: any Timekeeper) -> Bool {
        let age = elapsed(since: acceptedAt, timekeeper)
        switch terms.validity {
        case .unlimited, .persistent: return true
        case .lease(let lease): return age < lease
        case .rental(let rental), .persistentFor(let rental): return age < rental
        case .leaseAndRental(let lease, let rental): return age < lease && age < rental
        case .dualExpiry(let storage, let playback):
            guard let startedAt else { return age < storage }
            return elapsed(since: startedAt, timekeeper) < playback
        }
    }

    /// Whether the key decrypts now: for playback that `start(at:)` began, or that may begin now.
    public func canDecrypt(at timekeeper: any Timekeeper) -> Bool {
        guard startedAt != nil else { return canStart(at: timekeeper) }
        switch terms.validity {
        case .unlimited, .persistent, .rental, .persistentFor: return true
        case .lease(let lease), .leaseAndRental(let lease, _): return elapsed(since: acceptedAt, timekeeper) < lease
        case .dualExpiry: return canStart(at: timekeeper)
        }
    }

    /// Notes that playback starts; only the first time counts.
    /// - Returns: whether it may.
    public mutating func start(at timekeeper: any Timekeeper) -> Bool {
        guard canStart(at: timekeeper) else { return false }
        if startedAt == nil { startedAt = DeviceTime(timekeeper) }
        return true
    }

    private func elapsed(since moment: DeviceTime, _ timekeeper: any Timekeeper) -> Duration {
        let now = DeviceTime(timekeeper)
        guard terms.isPersistable else { return now.uptime - moment.uptime }
        return .seconds(now.date.timeIntervalSince(moment.date))
    }
}
