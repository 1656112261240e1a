#if canImport(AVFoundation)
    import AVFoundation
    @_spi(Adapters) import Latchkey

    /// The content key session of one asset.
    ///
    /// A session asks once for a key, whichever of its assets plays next, and does not say which assets use the key. So each asset has a
    /// session of its own, and to the loader each session is a player. An asset that is released leaves its session idle; the next asset
    /// of the same stream or title takes it over, with the keys that it has. `Documentation/Decisions/0014-session-per-asset.md` has the reasons.
    nonisolated struct AssetSession: Sendable {
        let session: AVContentKeySession
        /// Identifies the session to the loader.
        let player = PlayerID("AVContentKeySession \(UUID().uuidString)")
        /// What plays; the last asset of an idle session.
        private(set) weak var asset: AVURLAsset?
        /// The stream that the keys are for; `nil` if only keys were preloaded.
        private(set) var stream: URL?
        /// The app's name for the title.
        private(set) var name: AssetID?
        /// Whether the asset was released, or none has come yet.
        private(set) var isIdle = true
        /// Whether an asset has used it.
        private(set) var hasPlayed = false
        var requests: SessionRequests<SessionKeyRequest>
        /// The keys whose streaming requests are becoming persistable, so that the license cache can keep them.
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

        /// The title of a key, as far as the session knows.
        func asset(of key: KeyURI) -> AssetID? { requests.asset(of: key) ?? name }

        /// Takes an asset that will use the keys.
        mutating func begin(_ asset: AVURLAsset, as name: AssetID?) {
            self.asset = asset
            stream = asset.url
            self.name = name ?? self.name
            isIdle = false
            hasPlayed = true
        }

        /// Leaves the session without a user.
        mutating func end() { isIdle = true }

        /// How well an idle session fits an asset; `nil` if it does not. One that only preloaded keys of no title fits any asset.
        func fit(_ asset: AVURLAsset, as name: AssetID?) -> Int? {
            guard isIdle else { return nil }
            if self.asset === asset { return 3 }
            if isFor(asset.url, name) { return 2 }
            return stream == nil && self.name == nil ? 1 : nil
        }

        /// Whether the keys are those of a stream or title; a title's name decides where both are known.
        func isFor(_ stream: URL?, _ name: AssetID?) -> Bool {
            if let name, let own = self.name { return name == own }
            if let stream, let own = self.stream { return stream == own }
            return stream == nil && name == nil && self.stream == nil && self.name == nil
        }
    }
#endif
