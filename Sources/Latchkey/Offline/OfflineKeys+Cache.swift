import Foundation
import LatchkeyCore

/// A license cache's use of stored keys: a title is added with its first key, and removed to make room.
extension OfflineKeys {
    /// A kept key with the rest of its lease; its title counts as played now.
    /// - Parameter shortest: the least time that the lease must have left.
    func kept(
        _ key: KeyURI, atLeast shortest: Duration
    ) async throws(OfflineError) -> (key: Secret, left: Duration)? {
        try await change { draft throws(OfflineError) in
            let now = draft.now
            let key = draft.index.known(key, by: self.names)
            guard let found = draft.index.keys[key], let seconds = found.remaining(at: now),
                let left = Duration(clampingSeconds: seconds), left > shortest,
                let bytes = try await self.keyIndex.bytes(of: found.item)
            else {
                draft.index.forget(key)
                return nil
            }
            draft.index.keys[key]?.used = now
            return (bytes, left)
        }
    }

    /// Keeps a key for as long as its lease lasts.
    /// - Parameter room: the maximum number of keys; the least recently played title is removed first.
    func keep(
        _ bytes: Secret, for key: KeyURI, of asset: AssetID, _ lease: Duration, room: Int
    ) async throws(OfflineError) {
        try checkSize(of: bytes)
        try await change { draft throws(OfflineError) in
            draft.trust(self.timekeeper.date)
            let now = draft.now
            draft.index.rename(draft.index.known(key, by: self.names), to: key)
            draft.index.assets[asset, default: []].insert(key)
            let item = draft.add(bytes, using: self.generator())
            var kept = OfflineIndex.KeyRecord(uri: key, item: item, stored: now)
            (kept.storage, kept.used) = (lease.inSeconds, now)
            draft.index.keys[key] = kept
            draft.index.makeRoom(max(1, room), at: now, for: key)
        }
    }

    /// Removes a kept key, for a caller that does not wait.
    func drop(_ key: KeyURI) {
        changeLater(key) { draft in draft.index.forget(draft.index.known(key, by: self.names)) }
    }
}

extension OfflineIndex {
    /// Removes a key from the titles that need it.
    fileprivate mutating func forget(_ key: KeyURI) {
        keys[key] = nil
        assets = assets.mapValues { $0.subtracting([key]) }.filter { !$0.value.isEmpty }
    }

    /// Removes the keys whose leases have ended, and then those of the least recently played titles, until the others fit.
    fileprivate mutating func makeRoom(_ room: Int, at now: Date, for newest: KeyURI) {
        for key in expired(at: now) { forget(key) }
        while keys.count > room, let oldest = oldest(but: newest) {
            let title = assets.filter { $0.value.contains(oldest) && !$0.value.contains(newest) }
            for key in title.values.first ?? [oldest] { forget(key) }
        }
    }

    private func oldest(but newest: KeyURI) -> KeyURI? {
        keys.values.filter { $0.uri != newest }.min { ($0.used ?? $0.stored) < ($1.used ?? $1.stored) }?.uri
    }
}
