#if canImport(AVFoundation)
    import AVFoundation
    @_spi(Adapters) import Latchkey

    /// The content key session of one asset, and its requests.
    ///
    ///     made ──begin──▶ in use ──end──▶ idle ──begin──▶ in use …
    ///       └─ preloads keys (idle)        └─ removed ──▶ expired
    ///
    /// A session requests a key once, for whichever asset plays next, and does not report which assets use the key. So no two
    /// assets share a session at a time, and to the loader each session is a player. A released asset leaves its session idle,
    /// without renewals; the next asset of the same stream or title takes it over with its keys. The four newest idle sessions
    /// that played are kept, and 16 that only preloaded. An expired session must never be used again, and a vendor's secure
    /// session is never kept idle. `Documentation/Decisions/0014-session-per-asset.md` has the reasons.
    nonisolated struct AssetSession: Sendable {
        let session: AVContentKeySession
        /// Identifies the session to the loader.
        let player = PlayerID("AVContentKeySession \(UUID().uuidString)")
        /// The asset that plays; in an idle session, the last one.
        private(set) weak var asset: AVURLAsset?
        /// The stream of the keys; `nil` if keys were only preloaded.
        private(set) var stream: URL?
        /// The app's name for the title.
        private(set) var name: AssetID?
        /// Whether the asset was released, or the session never had one.
        private(set) var isIdle = true
        /// Whether an asset has used it.
        private(set) var hasPlayed = false
        var requests: SessionRequests<SessionKeyRequest>
        /// The keys whose streaming requests are becoming persistable for the license cache.
        var keptForReplays: Set<KeyURI> = []

        init(
            _ session: AVContentKeySession, for stream: URL? = nil, as name: AssetID? = nil,
            _ requests: SessionRequests<SessionKeyRequest>
        ) {
            self.session = session
            self.stream = stream
            self.name = name
            self.requests = requests
        }

        /// Whether an asset uses the keys.
        var hasUser: Bool { !isIdle && asset != nil }

        /// The title of a key, if the session knows it.
        func asset(of key: KeyURI) -> AssetID? { requests.asset(of: key) ?? name }

        /// Assigns the asset that will use the keys.
        mutating func begin(_ asset: AVURLAsset, as name: AssetID?) {
            self.asset = asset
            stream = asset.url
            self.name = name ?? self.name
            isIdle = false
            hasPlayed = true
        }

        /// Marks the session as idle.
        mutating func end() { isIdle = true }

        /// How well an idle session matches an asset; `nil` if it does not. A session with only preloaded keys and no title
        /// matches any asset.
        func fit(_ asset: AVURLAsset, as name: AssetID?) -> Int? {
            guard isIdle else { return nil }
            if self.asset === asset { return 3 }
            if isFor(asset.url, name) { return 2 }
            return stream == nil && self.name == nil ? 1 : nil
        }

        /// Whether the keys belong to a stream or title. If both names are known, they decide.
        func isFor(_ stream: URL?, _ name: AssetID?) -> Bool {
            if let name, let own = self.name { return name == own }
            if let stream, let own = self.stream { return stream == own }
            return stream == nil && name == nil && self.stream == nil && self.name == nil
        }
    }
#endif
