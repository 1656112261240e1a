#if canImport(JWPlayer_iOS_SDK)
    public import Foundation
    public import JWPlayer_iOS_SDK
    public import Latchkey

    /// Gives JW Player 3 its keys: the DRM data source of one player.
    ///
    ///     let keys = JWPlayerV3KeyBridge(loader) { error, _ in show(error) }
    ///     player.drmDataSource = keys
    ///
    /// Keep it as long as the player plays, which holds it weakly; going away, it answers what is open with empty data and lets the
    /// keys go. Each player has one of its own; they may share a loader. Safe to use from any thread.
    public final class JWPlayerV3KeyBridge: NSObject, Sendable {
        private let calls: JWPlayerCalls

        /// - Parameters:
        ///   - loader: gets the keys.
        ///   - patience, timekeeper: as for `JWPlayerKeyBridge`.
        ///   - onError: hears why a key did not come. JW Player gets empty data and says only that something failed; called from
        ///     any thread.
        public init(
            _ loader: ContentKeyLoader, patience: Duration = .seconds(3),
            timekeeper: any Timekeeper = SystemTimekeeper(), onError: @escaping JWPlayerErrorListener
        ) {
            calls = JWPlayerCalls(loader, patience, timekeeper, onError)
            super.init()
        }

        /// Says that the player goes on to another source or goes away: what is open is answered with nothing, its keys are let go.
        public func release() { calls.release() }
    }

    #if canImport(ObjectiveC)
        @objc
    #endif
    extension JWPlayerV3KeyBridge: JWDrmDataSource {
        public func fetchContentIdentifier(
            forRequest loadingRequestURL: URL, for encryption: JWEncryption,
            withCompletion completion: @escaping (Data) -> Void
        ) {
            calls.contentIdentifier(for: loadingRequestURL) { completion($0 ?? Data()) }
        }

        public func fetchAppIdentifier(
            forRequest loadingRequestURL: URL, for encryption: JWEncryption,
            withCompletion completion: @escaping (Data) -> Void
        ) {
            calls.certificate(for: loadingRequestURL) { completion($0 ?? Data()) }
        }

        public func fetchContentKey(
            withRequest requestBytes: Data, for encryption: JWEncryption,
            withCompletion completion: @escaping (Data, Date?, String?) -> Void
        ) {
            calls.license(for: requestBytes, { _ in nil }) { license in
                completion(
                    license?.ckc ?? Data(), license?.renewalDate, license.map { _ in "application/octet-stream" })
            }
        }
    }
#endif
