#if canImport(THEOplayerSDK) && !THEOPLAYER_4
    import Foundation
    public import Latchkey
    public import THEOplayerSDK

    /// Gives THEOplayer, version 5.4.1 and later, the keys of one source: an integration whose requests the loader makes.
    ///
    /// THEOplayer makes one for each source, through a `THEOplayerKeyFactory`, and keeps it. Going away, it answers what is open
    /// with an error and lets the keys go. Errors are `NSError`s of the domain `ContentKeyError.errorDomain`. Safe to use from any
    /// thread.
    public final class THEOplayerKeyBridge: ContentProtectionIntegration, Sendable {
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
        public func onExtractFairplayContentId(skdUrl: String, callback: any ExtractContentIdCallback) {
            do throws(ContentKeyError) {
                callback.respond(contentID: try calls.contentIdentifier(for: skdUrl).bytes)
            } catch {
                callback.error(error: error.nsError)
            }
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
