// Version 4 names keys through a method that 6.0 removed. An app with THEOplayer 4 sets the compilation condition THEOPLAYER_4; the
// stand-in has both protocols.
#if canImport(THEOplayerSDK) && (THEOPLAYER_4 || os(Linux))
    import Foundation
    public import Latchkey
    public import THEOplayerSDK

    #if THEOPLAYER_4
        /// What names a key by returning.
        public typealias SynchronousContentIdentifier = ContentProtectionIntegration
    #endif

    /// Gives THEOplayer 4 the keys of one source: an integration whose requests the loader makes.
    ///
    /// As `THEOplayerKeyBridge`, but for the content identifier, which version 4 takes as a text and without an error: one that is
    /// no text, or cannot be had, makes the license request fail with the reason.
    public final class THEOplayerV4KeyBridge: SynchronousContentIdentifier, Sendable {
        private let calls: THEOplayerCalls

        /// - Parameters:
        ///   - loader: gets the keys.
        ///   - purpose: `persistable` where the source's `licenseType` is `persistent`; nil, the default, otherwise.
        ///   - onError: hears of a key whose life ended although it is still wanted; called from any thread.
        public convenience init(
            _ loader: ContentKeyLoader, purpose: KeyPurpose? = nil,
            onError: @escaping THEOplayerErrorListener = { _, _ in }
        ) {
            self.init(THEOplayerCalls(.success(loader), purpose, onError))
        }

        init(_ calls: THEOplayerCalls) { self.calls = calls }

        #if canImport(ObjectiveC)
            @objc
        #endif
        public func extractFairplayContentId(skdUrl: String) -> String {
            // The license request finds the same error again, and can say it.
            (try? calls.contentIdentifier(for: skdUrl)).flatMap { String(data: $0.bytes, encoding: .utf8) } ?? skdUrl
        }

        #if canImport(ObjectiveC)
            @objc
        #endif
        public func onCertificateRequest(request: CertificateRequest, callback: any CertificateRequestCallback) {
            calls.certificate(callback)
        }

        #if canImport(ObjectiveC)
            @objc
        #endif
        public func onLicenseRequest(request: LicenseRequest, callback: any LicenseRequestCallback) {
            calls.license(request, callback)
        }
    }
#endif
