#if canImport(ReactNativeVideo)
    import AVFoundation
    public import LatchkeyAVFoundation
    import LatchkeyCore
    public import ReactNativeVideo

    /// Gives the keys of react-native-video 7: a plugin for its players, over AVFoundation's content key session.
    ///
    ///     let plugin = ReactNativeVideoKeys { source in source.uri.hasPrefix("https://cdn.example/") ? loader : nil }
    ///
    /// Make it once, when the app starts, and keep it; it registers itself. A script says `drm: { type: "fairplay" }` and nothing
    /// else: what it says of license servers is for the loader to know. Each source has a content key session of its own, which
    /// goes with the source. Source: `player-apis.md` §8.4.
    public final class ReactNativeVideoKeys: ReactNativeVideoPlugin {
        private let choose: (any NativeVideoPlayerSource) -> ContentKeyLoader?
        private let options: ContentKeySessionOptions
        private let notify: @Sendable (ContentKeySessionNotice) -> Void

        /// - Parameters:
        ///   - options: of each content key session.
        ///   - notify: hears what the app may want to know, mostly failures; called on a queue, which it must not block.
        ///   - choosing: the loader for a source; nil leaves the source to other plugins. Called on any thread.
        public init(
            options: ContentKeySessionOptions = ContentKeySessionOptions(),
            notify: @escaping @Sendable (ContentKeySessionNotice) -> Void = { _ in },
            choosing: @escaping (any NativeVideoPlayerSource) -> ContentKeyLoader?
        ) {
            choose = choosing
            self.options = options
            self.notify = notify
            super.init(name: "Latchkey")
        }

        public override func getDRMManager(source: any NativeVideoPlayerSource) -> (any DRMManagerSpec)? {
            choose(source).map { SourceKeys(ContentKeySessionBridge($0, options: options, notify: notify)) }
        }
    }

    /// The keys of one source.
    final class SourceKeys: NSObject, DRMManagerSpec, Sendable {
        private let bridge: ContentKeySessionBridge

        init(_ bridge: ContentKeySessionBridge) {
            self.bridge = bridge
            super.init()
        }

        func createContentKeyRequest(for asset: AVURLAsset, drmParams: NativeDrmParams) throws {
            if let type = drmParams.type, type.lowercased() != "fairplay" {
                throw ContentKeyError(
                    .unfitForPlayer, "The script asks for keys of the type \(type.prefix(20)).",
                    remedy: "Ask for keys of the type fairplay."
                ).nsError
            }
            bridge.protect(asset)
        }

        /// The bridge is its session's delegate; a request that comes here comes from a session of the library's.
        func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
            bridge.contentKeySession(session, didProvide: keyRequest)
        }
    }
#endif
