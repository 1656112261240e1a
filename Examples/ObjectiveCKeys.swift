// The shim of an app in Objective-C: vendors and credentials are Swift values. Use the parts that the app needs, and change the vendor
// here; the calls stay the same. An adapter's folder is in the app's own target, so `App-Swift.h` contains its class and these additions.
#if canImport(ObjectiveC)
    public import Foundation
    public import Latchkey

    /// Implemented by an app in Objective-C: requests a token from the app's own server, for each license.
    @objc(AppTokens)
    public protocol AppTokens: Sendable {
        func token() async throws -> String
    }

    extension CompletionKeyLoader {
        /// A loader with completion handlers.
        @objc(vuDRMWithCertificate:tokens:)
        public static func vuDRM(certificate: URL, tokens: any AppTokens) -> CompletionKeyLoader {
            CompletionKeyLoader(
                ContentKeyLoader(
                    .vuDRM(certificate: certificate), credentials: .token { _ in try await tokens.token() }))
        }
    }
#endif

#if canImport(ObjectiveC) && canImport(JWPlayer_iOS_SDK)
    extension JWPlayerKeys {
        /// The `drmDataSource` of JW Player 3, which the app keeps as long as it plays.
        @objc(vuDRMWithCertificate:tokens:onFailure:)
        public static func vuDRM(
            certificate: URL, tokens: any AppTokens, onFailure: @escaping @Sendable (NSError) -> Void
        ) -> JWPlayerKeys {
            JWPlayerKeys(
                ContentKeyLoader(
                    .vuDRM(certificate: certificate), credentials: .token { _ in try await tokens.token() })
            ) { onFailure($0.error) }
        }
    }
#endif

#if canImport(ObjectiveC) && canImport(PSDKLibrary)
    extension TVSDKKeys {
        /// Makes ExpressPlay the source of keys for all players of TVSDK.
        @objc(registerExpressPlayWithCertificate:onFailure:)
        public static func registerExpressPlay(
            certificate: Data, onFailure: @escaping @Sendable (NSError) -> Void
        ) {
            TVSDKKeys(ContentKeyLoader(.expressPlay(certificate: certificate))) { onFailure($0.error) }
                .register()
        }
    }
#endif
