public import Foundation
public import LatchkeyCore

/// A moment on both clocks of a device.
public struct DeviceTime: Sendable, Hashable {
    /// The date. Stored keys use it, because it continues after a restart.
    public let date: Date
    /// The time since an arbitrary start. Streaming uses it, because a user cannot set it back.
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

/// A content key from a CKC, and how long it may be used.
///
/// When a lease ends, playback ends. When a rental ends, playback can no longer start, but playback that has started continues; a
/// key that is stored for a limited time works the same way. With dual expiry, playback can start until the first window ends,
/// and ends with the second window, which begins at the first start.
///
/// Source: `Documentation/FairPlay.md` §7, behavior of key types.
public struct DeviceKey: Sendable, Hashable {
    /// The key and IV that decrypt the media.
    public let contentKey: ContentKey
    /// The terms that the CKC stated.
    public let terms: LicenseTerms
    /// When the device accepted the CKC.
    public let acceptedAt: DeviceTime
    /// When playback first started with the key; `nil` before that.
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

    /// Whether the key decrypts now: playback has started with `start(at:)` and is not over, or it may start now.
    public func canDecrypt(at timekeeper: any Timekeeper) -> Bool {
        guard startedAt != nil else { return canStart(at: timekeeper) }
        switch terms.validity {
        case .unlimited, .persistent, .rental, .persistentFor: return true
        case .lease(let lease), .leaseAndRental(let lease, _): return elapsed(since: acceptedAt, timekeeper) < lease
        case .dualExpiry: return canStart(at: timekeeper)
        }
    }

    /// Records that playback starts. Only the first start is recorded.
    /// - Returns: whether playback may start.
    public mutating func start(at timekeeper: any Timekeeper) -> Bool {
        guard canStart(at: timekeeper) else { return false }
        if startedAt == nil { startedAt = DeviceTime(timekeeper) }
        return true
    }

    private func elapsed(since moment: DeviceTime, _ timekeeper: any Timekeeper) -> Duration {
        let now = DeviceTime(timekeeper)
        guard terms.isPersistable else { return now.uptime - moment.uptime }
        // A damaged record can contain any date.
        return Duration(clampingSeconds: now.date.timeIntervalSince(moment.date)) ?? .zero
    }
}
