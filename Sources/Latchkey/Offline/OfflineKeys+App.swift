import Foundation
public import LatchkeyCore

/// The app's requests.
extension OfflineKeys {
    /// Begins to store an asset, or changes its keys: keys that no asset needs any more are removed, the others stay, even if their URIs
    /// come from another session; see `OfflinePolicy`.
    /// - Parameters:
    ///   - asset: the app's name for it.
    ///   - keys: the keys of all chosen renditions, audio, SD and HD alike; `KeyDiscovery` finds them in a stream's playlists.
    /// - Throws: `noKeys`, `tooManyAssets`, `tooManyKeys`, or the store's error.
    @discardableResult
    public func register(_ asset: AssetID, keys: Set<KeyURI>) async throws(OfflineError) -> OfflineAsset {
        guard !keys.isEmpty else {
            throw OfflineError(.offlineAssetWithoutKeys, "The asset \(asset) was registered without a key.")
        }
        let list = try await change { draft throws(OfflineError) in
            draft.index.adopt(keys, by: self.names)
            draft.index.assets[asset] = keys
            try draft.index.check(self.policy)
            draft.index.forgetUnwanted()
            self.forgetRejections(of: keys)
            return draft.index.list(at: draft.now)
        }
        return list.first { $0.id == asset } ?? OfflineAsset(id: asset, keys: [])
    }

    /// All assets, ordered by their identifiers.
    public func assets() async throws(OfflineError) -> [OfflineAsset] {
        try await change { $0.index.list(at: $0.now) }
    }

    /// An asset; `nil` if it was not registered.
    public func asset(_ id: AssetID) async throws(OfflineError) -> OfflineAsset? {
        try await assets().first { $0.id == id }
    }

    /// All assets now, and again whenever a key is requested, stored, played, removed or expires. A slow reader gets the latest
    /// list only. The stream begins when the store can be read, and ends with the loader.
    public func changes() -> AsyncStream<[OfflineAsset]> {
        let (stream, listener) = AssetListeners.stream()
        turns.add { [weak self] in
            guard let self else { return listener.finish() }
            do throws(OfflineError) {
                self.listeners.add(listener, try await self.change(inTurn: { $0.index.list(at: $0.now) }))
            } catch {
                self.listeners.add(listener, nil)
                self.report(nil, nil, .storeFailed(error))
            }
        }
        return stream
    }

    /// The keys that are due for renewal: a share of their storage window has passed, or all of it, and they are not in their playback
    /// window. To renew a key, make the player request it with `StoredKeyUse.replace`; the media stays as it is.
    /// - Throws: `renewalUnsupported` if keys are due and the vendor renews none.
    public func dueForRenewal() async throws(OfflineError) -> [OfflineKey] {
        let fraction = policy.renewalFraction
        let due = try await change { draft in
            draft.index.keys.values.filter { $0.isDue(at: draft.now, fraction: fraction) }
                .map { draft.index.key($0.uri, at: draft.now) }
                .sorted { $0.uri.raw < $1.uri.raw }
        }
        if !due.isEmpty, !renews { throw Self.renewalUnsupported }
        return due
    }

    /// Removes an asset and the keys that no other asset needs. Removing an unregistered asset is not an error.
    /// - Returns: the keys that were removed, for a service that requires proof of their removal.
    @discardableResult
    public func delete(_ asset: AssetID) async throws(OfflineError) -> [RemovedKey] {
        try await change { draft throws(OfflineError) in
            guard let keys = draft.index.assets.removeValue(forKey: asset) else { return [] }
            let before = draft.index.keys
            draft.index.forgetUnwanted()
            self.forgetRejections(of: keys)
            return await self.removed(before.values.filter { draft.index.keys[$0.uri] == nil })
        }
    }

    /// Removes all assets and keys, as when a user signs out. Works even if the index cannot be read.
    /// - Returns: the keys that were removed; none if the index cannot be read.
    @discardableResult
    public func deleteAll() async throws(OfflineError) -> [RemovedKey] {
        try await turns.result { () async throws(OfflineError) in
            let index = try? await self.keyIndex.index(self.timekeeper.date)
            let removed = await self.removed(index.map { Array($0.keys.values) } ?? [])
            try await self.keyIndex.removeAll()
            try await self.change(inTurn: { _ in })
            self.listeners.send([])
            return removed
        }
    }

    /// Keys with their bytes; without unreadable keys, which must not block their removal.
    private func removed(_ keys: [OfflineIndex.KeyRecord]) async -> [RemovedKey] {
        var removed: [RemovedKey] = []
        for key in keys.sorted(by: { $0.uri.raw < $1.uri.raw }) {
            guard let bytes = try? await keyIndex.bytes(of: key.item) else { continue }
            removed.append(RemovedKey(uri: key.uri, bytes: bytes))
        }
        return removed
    }

    static let renewalUnsupported = OfflineError(.storedKeyRenewalUnsupported, "The vendor does not renew stored keys.")
}

extension OfflineIndex {
    fileprivate func check(_ policy: OfflinePolicy) throws(OfflineError) {
        guard assets.count <= policy.assets else {
            throw OfflineError(.tooManyOfflineAssets, "There are \(policy.assets) assets already.")
        }
        guard wanted.count <= policy.keys else {
            throw OfflineError(.tooManyOfflineKeys, "All assets together would need more than \(policy.keys) keys.")
        }
    }
}
