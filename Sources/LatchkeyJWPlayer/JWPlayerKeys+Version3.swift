#if canImport(JWPlayer_iOS_SDK)
    public import Foundation
    public import JWPlayer_iOS_SDK
    @_spi(Adapters) import Latchkey

    #if JWPLAYER_3_EARLY
        /// The data type of JW Player 3's completions. The headers before 3.13 do not say whether it may be `nil`.
        public typealias JWPlayer3Bytes = Data?
    #else
        /// The data type of JW Player 3's completions.
        public typealias JWPlayer3Bytes = Data
    #endif

    // Version 3 expects the content type together with a renewal date, and empty data instead of an error. It requests keys
    // once its stream plays, so an app may set `drmDataSource` after it creates the player. It runs on systems from iOS 10 on;
    // Latchkey needs iOS 16, where versions before 3.13 request no content identifier. An app with one of these sets the
    // compilation condition `JWPLAYER_3_EARLY`.
    nonisolated extension JWPlayerKeys: JWDrmDataSource {
        public func fetchContentIdentifier(
            forRequest loadingRequestURL: URL, for encryption: JWEncryption,
            withCompletion completion: @escaping (JWPlayer3Bytes) -> Void
        ) {
            guard isFairPlay(encryption) else { return completion(Data()) }
            contentIdentifier(for: loadingRequestURL) { completion($0 ?? Data()) }
        }

        public func fetchAppIdentifier(
            forRequest loadingRequestURL: URL, for encryption: JWEncryption,
            withCompletion completion: @escaping (JWPlayer3Bytes) -> Void
        ) {
            guard isFairPlay(encryption) else { return completion(Data()) }
            certificate(for: loadingRequestURL) { completion($0 ?? Data()) }
        }

        public func fetchContentKey(
            withRequest requestBytes: Data, for encryption: JWEncryption,
            withCompletion completion: @escaping (JWPlayer3Bytes, Date?, String?) -> Void
        ) {
            guard isFairPlay(encryption) else { return completion(Data(), nil, nil) }
            license(for: requestBytes, purpose: { _ in nil }) { [contentType] license in
                completion(license?.ckc ?? Data(), license?.renewalDate, license.map { _ in contentType })
            }
        }

        /// Whether a request is for a FairPlay key. Any other request is reported to the app.
        private func isFairPlay(_ encryption: JWEncryption) -> Bool {
            // In version 3.0 it is a C enum, whose constants have other names.
            guard encryption.rawValue != 0 else { return true }
            fail(.otherSystem, nil)
            return false
        }
    }

    nonisolated extension ContentKeyError {
        fileprivate static let otherSystem = ContentKeyError(
            .unfitForPlayer, "JW Player asked for a key of another system than FairPlay.",
            remedy: "Give the player a stream whose keys are FairPlay's.")
    }
#endif
