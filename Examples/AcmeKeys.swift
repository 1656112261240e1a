#if canImport(THEOplayerSDK)
    import Foundation
    @_spi(Integrations) import Latchkey

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// An integration in code: the steps in which a vendor differs. The other steps have defaults.
    ///
    /// It knows no player; a `ContentKeyLoader` takes it for any of them.
    struct AcmeKeys: DRMIntegration {
        static let integrationID = "acme"

        let identifier = AcmeKeys.integrationID
        private let license: URL
        private let certificate: URL
        private let token: String

        /// - Throws: If the source lacks an address or the token. The error answers the source's key requests.
        init(_ parameters: [String: String]) throws {
            guard let license = parameters["licenseURL"].flatMap(URL.init(string:)),
                let certificate = parameters["certificateURL"].flatMap(URL.init(string:)),
                let token = parameters["token"]
            else { throw IntegrationError(.missingSetting, "The source lacks an address or the token.") }
            (self.license, self.certificate, self.token) = (license, certificate, token)
        }

        /// Requests may go to the hosts of these.
        var configuredURLs: [URL] { [license, certificate] }

        /// Events and errors do not show `x-token`.
        var redaction: Redaction { Redaction(headers: ["x-token"]) }

        /// `skd://movie-1` names the content `movie-1`.
        func contentIdentifier(for key: KeyURI) throws -> ContentIdentifier { ContentIdentifier(key.remainder) }

        func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? {
            URLRequest(url: certificate)
        }

        /// The SPC as it is, and the token in a header.
        func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
            var request = URLRequest(url: license)
            request.httpMethod = "POST"
            request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
            request.setValue(token, forHTTPHeaderField: "x-token")
            request.httpBody = spc.bytes.revealed
            return request
        }
    }
#endif
