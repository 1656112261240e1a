#if canImport(AVFoundation)
    import Foundation
    public import Latchkey

    /// Stores the keys of titles and renews them, independently of media: on tvOS, or in a background task.
    ///
    ///     let storedKeys = StoredKeys(loader)
    ///     try await storedKeys.storeKeys(keys, of: "movie-1")
    ///     for renewal in try await storedKeys.renewKeys() { print(renewal.key, renewal.isRenewed) }
    ///
    /// Each call gets its keys through its own key session, and needs no download session. It ends at the latest one attempt's timeout
    /// after the deadline of the loader's `RetryPolicy`, 40 s by default, even if the system does not respond, and immediately if its
    /// task is cancelled. Keys stored or renewed until then stay. In the simulator each key fails with `playerUnsupported`.
    @available(tvOS 17, *)
    public nonisolated struct StoredKeys: Sendable {
        private let loader: ContentKeyLoader
        private let options: AVPlayerKeys.Options

        /// - Parameters:
        ///   - loader: Gets and stores the keys; its configuration names a key store.
        ///   - options: The options of the key sessions; `storedKeys` is not used.
        public init(_ loader: ContentKeyLoader, options: AVPlayerKeys.Options = AVPlayerKeys.Options()) {
            self.loader = loader
            self.options = options
        }

        /// Gets and stores the keys of a title that are not stored or have expired. The first failed key ends the call.
        /// - Parameters:
        ///   - keys: The keys of all chosen renditions, including audio, SD and HD; `loader.keys(of:)` finds them in a playlist.
        ///   - asset: The title's name in the app's store.
        ///
        /// Two calls for one title share their work: the second waits for the first, and gets the keys still missing.
        /// - Throws: `cancelled` if the task, the system or the loader cancelled a request; `downloadFailed` if AVFoundation accepted no
        ///   key, for example after a reset of the media services, with its error in `underlying`; the errors of the loader and the
        ///   store.
        public func storeKeys(_ keys: Set<KeyURI>, of asset: AssetID) async throws(ContentKeyError) {
            let offline = try offline
            try await fetching(.reuse, "The keys were not all stored") { fetch in
                try await offline.alone(with: asset) {
                    let requested = try await offline.register(asset, keys: keys)
                    let missing = requested.keys.filter { ![.stored, .playing].contains($0.state) }.map(\.uri)
                    try await fetch.get(Set(missing), for: asset) { _, failure in
                        if let failure { throw failure.asError }
                    }
                    guard try await offline.asset(asset)?.isReady == true else { throw ContentKeyError.notStored }
                }
            }
        }

        /// Renews the stored keys that are due. A failed key does not affect the others. The media and the keys that are not
        /// renewed stay.
        /// - Returns: The result for each due key, ordered by URI.
        /// - Throws: `storedKeyRenewalUnsupported` if keys are due and the vendor does not support renewal; `deadlineExceeded`
        ///   if the store did not report the due keys in time; `cancelled` if the task is cancelled.
        @discardableResult
        public func renewKeys() async throws(ContentKeyError) -> [KeyRenewal] {
            try await renew { offline, _ in Set(try await offline.dueForRenewal().map(\.uri)) }
        }

        /// Renews the keys of a title, due or not, for example after its rights were extended.
        /// - Returns: The result for each key, ordered by URI; empty for a title that was not stored.
        /// - Throws: The errors of `renewKeys()`, except that a vendor without renewal is a failure of each key.
        @discardableResult
        public func renewKeys(of asset: AssetID) async throws(ContentKeyError) -> [KeyRenewal] {
            try await renew { _, assets in
                Set(assets.filter { $0.id == asset }.flatMap { $0.keys.map(\.uri) })
            }
        }
    }

    /// The result of renewing a stored key.
    @available(tvOS 17, *)
    public nonisolated struct KeyRenewal: Sendable, Identifiable {
        /// The key's URI.
        public let key: KeyURI
        /// The titles that need the key.
        public let assets: Set<AssetID>
        /// The reason that the key was not renewed; `nil` if it was. The stored key is unchanged, and plays until its window ends.
        public let failure: KeyFailure?

        /// Whether the key was renewed.
        public var isRenewed: Bool { failure == nil }
        public var id: KeyURI { key }
    }

    @available(tvOS 17, *)
    nonisolated extension StoredKeys {
        private var offline: OfflineKeys {
            get throws(ContentKeyError) {
                guard let offline = loader.offline else {
                    throw ContentKeyError(.keyStoreMissing, "The loader was made without a store.")
                }
                return offline
            }
        }

        private func renew(
            _ choose: @escaping @Sendable (OfflineKeys, [OfflineAsset]) async throws -> Set<KeyURI>
        ) async throws(ContentKeyError) -> [KeyRenewal] {
            let offline = try offline
            let renewals = Locked(Renewals())
            do throws(ContentKeyError) {
                try await fetching(.replace, "The keys were not all renewed") { fetch in
                    let before = try await offline.assets()
                    let chosen = try await choose(offline, before)
                    renewals.withLock { $0 = Renewals(assets: before, open: chosen) }
                    try await fetch.get(chosen) { key, failure in renewals.withLock { $0.end(key, failure) } }
                    let now = try await offline.assets()
                    renewals.withLock { $0.check(now) }
                }
            } catch {
                guard error.kind == .deadlineExceeded, renewals.withLock({ $0.endAll(error) }) else { throw error }
            }
            return renewals.withLock { $0.ended.values.sorted { $0.key.raw < $1.key.raw } }
        }

        /// Runs a call that gets keys, and ends their requests when the call ends.
        private func fetching(
            _ storedKeys: StoredKeyUse, _ nothing: String, _ body: @escaping @Sendable (KeyFetch) async throws -> Void
        ) async throws(ContentKeyError) {
            var options = options
            options.storedKeys = storedKeys
            let fetch = KeyFetch(loader, options)
            // Here and not at the source of the keys, so that no request is open when the caller continues.
            defer { fetch.end() }
            try await loader.withinDeadline(nothing, otherwise: .downloadFailed) { try await body(fetch) }
        }
    }

    /// The renewals of one call.
    @available(tvOS 17, *)
    private nonisolated struct Renewals: Sendable {
        /// The titles before the call.
        var assets: [OfflineAsset] = []
        var open: Set<KeyURI> = []
        private(set) var ended: [KeyURI: KeyRenewal] = [:]

        mutating func end(_ key: KeyURI, _ failure: KeyFailure?) {
            open.remove(key)
            let owners = assets.filter { $0.keys.contains { $0.uri == key } }
            ended[key] = KeyRenewal(key: key, assets: Set(owners.map(\.id)), failure: failure)
        }

        /// - Returns: `false` if the keys to renew were still unknown.
        mutating func endAll(_ error: ContentKeyError) -> Bool {
            for key in open { end(key, KeyFailure(error, key: key)) }
            return !ended.isEmpty
        }

        /// A key that was delivered but could not be stored is not renewed.
        mutating func check(_ now: [OfflineAsset]) {
            let before = assets.dates
            for (key, date) in now.dates where date == before[key] && ended[key]?.isRenewed == true {
                end(key, KeyFailure(.notStored, key: key))
            }
        }
    }

    nonisolated extension KeyFailure {
        /// The error of a call that gets keys.
        fileprivate var asError: ContentKeyError { loaderError ?? .downloadFailed("The system took no key", error) }
    }

    nonisolated extension [OfflineAsset] {
        /// The storage date of each key.
        fileprivate var dates: [KeyURI: Date?] {
            Dictionary(flatMap(\.keys).map { ($0.uri, $0.stored) }) { first, _ in first }
        }
    }
#endif
