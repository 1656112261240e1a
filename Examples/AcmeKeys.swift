#if canImport(THEOplayerSDK)
    import Foundation
    @_spi(Integrations) import Latchkey
    import THEOplayerSDK

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// An integration in code: the steps in which a vendor differs. The other steps have defaults.
    ///
    /// It knows no player; a `ContentKeyLoader` takes it for any of them.
    struct AcmeKeys: VendorIntegration {
        static let integrationID = "acme"

        let identifier = AcmeKeys.integrationID
        /// Where the defaults of the other hooks send their requests.
        let licenseURL, certificateURL: URL?
        private let token: String

        /// - Throws: If the source lacks an address or the token. The error answers the source's key requests.
        init(_ parameters: [String: String]) throws {
            guard let license = parameters["licenseURL"].flatMap(URL.init(string:)),
                let certificate = parameters["certificateURL"].flatMap(URL.init(string:)),
                let token = parameters["token"]
            else { throw IntegrationError(.missingSetting, "The source lacks an address or the token.") }
            (licenseURL, certificateURL, self.token) = (license, certificate, token)
        }

        /// Events and errors do not show `x-token`.
        var redaction: Redaction { Redaction(headers: ["x-token"]) }

        /// `skd://movie-1` names the content `movie-1`.
        func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier { ContentIdentifier(key.remainder) }

        /// The SPC as it is, and the token in a header.
        func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
            var request = try defaultLicenseRequest(for: spc, context)
            request.setValue(token, forHTTPHeaderField: "x-token")
            return request
        }
    }
#endif
