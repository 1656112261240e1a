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
        private let purpose: @Sendable (KeyURI) -> KeyPurpose?

        /// - Parameters:
        ///   - loader: gets the keys.
        ///   - options: what can be set.
        ///   - onError: hears why a key did not come, which JW Player cannot be told; called from any thread.
        public convenience init(
            _ loader: ContentKeyLoader, options: JWPlayerOptions = JWPlayerOptions(),
            onError: @escaping JWPlayerErrorListener = { _, _ in }
        ) {
            self.init(loader, options, onError) { _ in nil }
        }

        /// - Parameter purpose: what a key is asked for, where that is known.
        init(
            _ loader: ContentKeyLoader, _ options: JWPlayerOptions, _ onError: @escaping JWPlayerErrorListener,
            purpose: @escaping @Sendable (KeyURI) -> KeyPurpose?
        ) {
            calls = JWPlayerCalls(loader, options, onError)
            self.purpose = purpose
            super.init()
        }

        deinit { calls.release() }

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
            calls.license(for: spcData, purpose) { license in
                handler(license?.ckc, license?.renewalDate, license.map { _ in "application/octet-stream" })
            }
        }
    }
#endif
