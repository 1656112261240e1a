import Foundation
import LatchkeyCore

/// A store's knowledge besides the keys' bytes: which assets need which keys, and where each key is and when its windows end.
struct OfflineIndex: Sendable, Hashable {
    /// The keys that each asset needs.
    var assets: [AssetID: Set<KeyURI>] = [:]
    /// The keys that are stored; each is needed by an asset.
    var keys: [KeyURI: KeyRecord] = [:]
    /// The latest date that was trusted.
    var latest: Date

    /// A key that is stored.
    struct KeyRecord: Sendable, Hashable, Codable {
        var uri: KeyURI
        var item: StoredItem
        /// When its license came, by the store's clock.
        var stored: Date
        /// How long it may be stored, in seconds; `nil` if no end is stated.
        var storage: Double?
        /// How long it plays from its first play on, in seconds; `nil` if its first play changes nothing.
        var playback: Double?
        var firstPlayed: Date?
        var renewed: Date?
        /// When a license cache last answered with it; `nil` in a store of downloads.
        var used: Date?
    }

    /// Every key that an asset needs.
    var wanted: Set<KeyURI> { assets.values.reduce(into: []) { $0.formUnion($1) } }

    /// The items that the stored keys are in.
    var items: Set<StoredItem> { Set(keys.values.map(\.item)) }

    func isWanted(_ key: KeyURI) -> Bool { assets.values.contains { $0.contains(key) } }

    /// The asset that needs a key; of several, the one whose name sorts first. `nil` if none does.
    func asset(needing key: KeyURI) -> AssetID? {
        assets.filter { $0.value.contains(key) }.keys.min { $0.rawValue < $1.rawValue }
    }

    /// Forgets the keys that no asset needs.
    mutating func forgetUnwanted() {
        let wanted = wanted
        keys = keys.filter { wanted.contains($0.key) }
    }
}

extension OfflineIndex.KeyRecord {
    /// How long until the current window ends, in seconds, or `nil`. Dates are sums of fractions: less than a millisecond
    /// counts as zero.
    func remaining(at now: Date) -> Double? {
        let window = firstPlayed != nil ? playback ?? storage : storage
        let start = playback != nil ? firstPlayed ?? stored : stored
        return window.map { (($0 - max(0, now.timeIntervalSince(start))) * 1_000).rounded() / 1_000 }
    }

    func isExpired(at now: Date) -> Bool { remaining(at: now).map { $0 <= 0 } ?? false }

    /// Whether a share of the storage window has passed. A key in its playback window is not renewed because of its age.
    func isDue(at now: Date, fraction: Double) -> Bool {
        guard let storage, playback == nil || firstPlayed == nil else { return false }
        return now.timeIntervalSince(stored) >= storage * fraction
    }

    /// Makes the current window end at a date.
    mutating func expire(at date: Date) {
        if playback != nil, let firstPlayed {
            playback = max(0, date.timeIntervalSince(firstPlayed))
        } else {
            storage = max(0, date.timeIntervalSince(stored))
        }
    }

    mutating func setWindows(of terms: LicenseTerms?) {
        switch terms?.validity {
        case .persistentFor(let limit): (storage, playback) = (limit.inSeconds, nil)
        case .dualExpiry(let limit, let play): (storage, playback) = (limit.inSeconds, play.inSeconds)
        default: (storage, playback) = (nil, nil)
        }
    }
}

// MARK: - Values for the app

extension OfflineIndex {
    func list(at now: Date) -> [OfflineAsset] {
        assets.map { id, keys in
            OfflineAsset(id: id, keys: keys.sorted { $0.raw < $1.raw }.map { key($0, at: now) })
        }.sorted { $0.id.rawValue < $1.id.rawValue }
    }

    func key(_ uri: KeyURI, at now: Date) -> OfflineKey {
        let key = keys[uri]
        let remaining = key?.remaining(at: now)
        let state: OfflineState =
            switch (key, remaining) {
            case (nil, _): .requested
            case (_, let remaining?) where remaining <= 0: .expired
            case (let key?, _): key.firstPlayed == nil ? .stored : .playing
            }
        return OfflineKey(
            uri: uri, state: state, stored: key?.stored, firstPlayed: key?.firstPlayed, renewed: key?.renewed,
            remaining: remaining.flatMap { Duration(clampingSeconds: max(0, $0)) })
    }

    /// The stored keys whose window has ended.
    func expired(at now: Date) -> Set<KeyURI> { Set(keys.values.filter { $0.isExpired(at: now) }.map(\.uri)) }

    /// How long until the next window ends.
    func nextEnd(after now: Date) -> Duration? {
        keys.values.compactMap { $0.remaining(at: now) }.filter { $0 > 0 }.min().flatMap(
            Duration.init(clampingSeconds:))
    }

    /// Whether a key has a window.
    var hasWindows: Bool { keys.values.contains { $0.storage != nil } }
}
