#if canImport(ObjectiveC)
    public import Foundation
    public import Latchkey

    /// What an app in Objective-C implements: it asks the app's own server for a token, for each license.
    @objc(AppTokens)
    public protocol AppTokens: Sendable {
        func token() async throws -> String
    }

    /// The shim of an app in Objective-C: `[LatchkeyCompletionKeyLoader vuDRMWithCertificate:tokens:]` makes its loader. Change the vendor
    /// here; the calls stay.
    extension CompletionKeyLoader {
        @objc(vuDRMWithCertificate:tokens:)
        public static func vuDRM(certificate: URL, tokens: any AppTokens) -> CompletionKeyLoader {
            CompletionKeyLoader(
                ContentKeyLoader(
                    .vuDRM(certificate: certificate), credentials: .token { _ in try await tokens.token() }))
        }
    }
#endif
