#if canImport(ReactNativeVideo)
    import AVFoundation
    public import LatchkeyAVFoundation
    public import ReactNativeVideo

    /// Delivers keys to react-native-video 7's players: a plugin, on top of AVFoundation's content key sessions.
    ///
    ///     let keys = ReactNativeVideoKeys(loader, onFailure: show)
    ///
    /// Create it once, when the app starts, and keep it; it registers itself. A script only needs `drm: { type: "fairplay" }`:
    /// the loader knows the license servers. Each source has its own content key session, which ends with the source.
    ///
    /// The library's types are C++ in part: the target that includes this file needs `.interoperabilityMode(.Cxx)`, which a
    /// pod of an app made with react-native has. Source: `Documentation/Players.md` §8.4.
    public nonisolated final class ReactNativeVideoKeys: ReactNativeVideoPlugin {
        private let loaderFor: (any NativeVideoPlayerSource) -> ContentKeyLoader?
        private let assetOf: (any NativeVideoPlayerSource) -> AssetID?
        private let options: AVPlayerKeys.Options
        private let onNotice: @Sendable (AVPlayerKeys.Notice) -> Void
        private let onFailure: @Sendable (KeyFailure) -> Void
        /// The library calls on any thread.
        private let lock = NSLock()
        private var managers: [Managed] = []
        private var isSuspended = false

        /// A source and its manager, as long as both exist.
        private struct Managed {
            weak var source: AnyObject?
            weak var keys: SourceKeys?
        }

        /// Delivers keys to all sources.
        /// - Parameters:
        ///   - loader: Gets the keys.
        ///   - options: The options of each content key session.
        ///   - onNotice: Receives events other than failures. Called on a queue that it must not block.
        ///   - assetOf: Returns the app's name for a source's title, used to request credentials and carried by failures and
        ///     events. Defaults to `nil` for each source. Called on any thread.
        ///   - onFailure: Receives the reason that a key was not delivered, was rejected, or ended; the library prints only
        ///     some of that. Not called for cancellations. Called on a queue that it must not block.
        public convenience init(
            _ loader: ContentKeyLoader, options: AVPlayerKeys.Options = AVPlayerKeys.Options(),
            onNotice: @escaping @Sendable (AVPlayerKeys.Notice) -> Void = { _ in },
            assetOf: @escaping (any NativeVideoPlayerSource) -> AssetID? = { _ in nil },
            onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) {
            self.init(options: options, onNotice: onNotice, assetOf: assetOf, onFailure: onFailure) { _ in loader }
        }

        /// Delivers keys to some sources, each from its own loader. The library asks its plugins in no particular order.
        /// - Parameters:
        ///   - options: The options of each content key session.
        ///   - onNotice: As in `init(_:options:onNotice:assetOf:onFailure:)`.
        ///   - assetOf: As in `init(_:options:onNotice:assetOf:onFailure:)`.
        ///   - onFailure: As in `init(_:options:onNotice:assetOf:onFailure:)`.
        ///   - loaderFor: Returns the loader of a source, and `nil` for a source that another plugin serves. Called on any thread.
        public init(
            options: AVPlayerKeys.Options = AVPlayerKeys.Options(),
            onNotice: @escaping @Sendable (AVPlayerKeys.Notice) -> Void = { _ in },
            assetOf: @escaping (any NativeVideoPlayerSource) -> AssetID? = { _ in nil },
            onFailure: @escaping @Sendable (KeyFailure) -> Void,
            loaderFor: @escaping (any NativeVideoPlayerSource) -> ContentKeyLoader?
        ) {
            self.loaderFor = loaderFor
            self.assetOf = assetOf
            self.options = options
            self.onNotice = onNotice
            self.onFailure = onFailure
            super.init(name: "Latchkey")
        }

        /// Releases the keys of all sources: open requests end with `cancelled`, no key is renewed, and the sessions expire.
        public func release() {
            for keys in lock.withLock({ managers.compactMap(\.keys) }) { keys.release() }
        }

        /// Pauses renewals and heartbeats until `resume()`, for an app in the background that does not play.
        public func suspend() { for keys in setSuspended(true) { keys.suspend() } }

        /// Resumes renewals after `suspend()`. Overdue renewals are made once.
        public func resume() { for keys in setSuspended(false) { keys.resume() } }

        /// - Returns: The keys of all sources; those of later sources are also suspended.
        private func setSuspended(_ isSuspended: Bool) -> [SourceKeys] {
            lock.withLock {
                self.isSuspended = isSuspended
                return managers.compactMap(\.keys)
            }
        }

        /// The library asks more than once per source, and gets the same manager as long as it retains it.
        public override func getDRMManager(source: any NativeVideoPlayerSource) -> (any DRMManagerSpec)? {
            if let known = known(source) { return known }
            guard let loader = loaderFor(source) else { return nil }
            let keys = SourceKeys(
                AVPlayerKeys(loader, options: options, onNotice: onNotice, onFailure: onFailure), assetOf(source),
                onFailure)
            let isSuspended = lock.withLock {
                managers.append(Managed(source: source, keys: keys))
                return self.isSuspended
            }
            if isSuspended { keys.suspend() }
            return keys
        }

        private func known(_ source: any NativeVideoPlayerSource) -> SourceKeys? {
            lock.withLock {
                managers.removeAll { $0.source == nil || $0.keys == nil }
                return managers.first { $0.source === source }?.keys
            }
        }
    }

    /// The keys of one source.
    nonisolated final class SourceKeys: NSObject, DRMManagerSpec, Sendable {
        private let keys: AVPlayerKeys
        private let asset: AssetID?
        private let onFailure: @Sendable (KeyFailure) -> Void

        init(_ keys: AVPlayerKeys, _ asset: AssetID?, _ onFailure: @escaping @Sendable (KeyFailure) -> Void) {
            self.keys = keys
            self.asset = asset
            self.onFailure = onFailure
            super.init()
        }

        func release() { keys.release() }

        func suspend() { keys.suspend() }

        func resume() { keys.resume() }

        func createContentKeyRequest(for asset: AVURLAsset, drmParams: NativeDrmParams) throws {
            if let type = drmParams.type, type.lowercased() != "fairplay" {
                let error = ContentKeyError(
                    .unfitForPlayer, "The script asks for keys of the type \(type.prefix(20)).",
                    remedy: "Ask for keys of the type fairplay.")
                // The library only prints thrown errors.
                onFailure(KeyFailure(error, asset: self.asset))
                throw error.nsError
            }
            keys.protect(asset, as: self.asset)
        }

        /// Handles requests of the library's own session. The keys' session has the keys as its delegate.
        func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
            keys.contentKeySession(session, didProvide: keyRequest)
        }
    }
#endif
