#if canImport(JWPlayerKit) || canImport(JWPlayerTVKit)
    public import Foundation
    public import Latchkey

    #if canImport(JWPlayerKit)
        public import JWPlayerKit
    #else
        public import JWPlayerTVKit
    #endif

    /// Gives JW Player 4 its keys: the content key data source of one player.
    ///
    ///     let keys = JWPlayerKeyBridge(loader)
    ///     player.contentKeyDataSource = keys
    ///     player.configurePlayer(with: configuration)
    ///
    /// Keep it as long as the player plays, which may hold it weakly; going away, it answers what is open with nothing and lets the
    /// keys go. Each player has one of its own; they may share a loader. Safe to use from any thread.
    public final class JWPlayerKeyBridge: NSObject, Sendable {
        private let calls: JWPlayerCalls
        private let stored: JWPlayerStoredKeys?

        /// - Parameters:
        ///   - loader: gets the keys.
        ///   - stored: the key manager of the player's `JWDRMContentLoader`, where keys are stored.
        ///   - patience: how long the SPC of one key may keep other keys waiting; 3 s unless given. Players make one in a fraction
        ///     of that.
        ///   - timekeeper: the time.
        ///   - onError: hears why a key did not come, which JW Player cannot be told; called from any thread.
        public init(
            _ loader: ContentKeyLoader, stored: JWPlayerStoredKeys? = nil, patience: Duration = .seconds(3),
            timekeeper: any Timekeeper = SystemTimekeeper(), onError: @escaping JWPlayerErrorListener = { _, _ in }
        ) {
            calls = JWPlayerCalls(loader, patience, timekeeper, onError)
            self.stored = stored
            super.init()
        }

        /// Says that the player goes on to another source or goes away: what is open is answered with nothing, its keys are let go.
        public func release() { calls.release() }
    }

    #if canImport(ObjectiveC)
        @objc
    #endif
    extension JWPlayerKeyBridge: JWDRMContentKeyDataSource {
        public func contentIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void) {
            calls.contentIdentifier(for: url, handler)
        }

        public func appIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void) {
            calls.certificate(for: url, handler)
        }

        public func contentKeyWithSPCData(
            _ spcData: Data, completionHandler handler: @escaping (Data?, Date?, String?) -> Void
        ) {
            calls.license(for: spcData, { stored?.purpose(of: $0) }) { license in
                handler(license?.ckc, license?.renewalDate, license.map { _ in "application/octet-stream" })
            }
        }
    }
#endif
