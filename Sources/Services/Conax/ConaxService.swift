import Foundation
import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Conax: raw license requests for key URIs in base64.
///
/// Source: `vendors.md` §18.
public struct ConaxService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// How the CKC is written; clients take any form. Default raw.
        public var reply = CKCEnvelope.raw

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "conax"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: form of the reply.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        // Both addresses are configured; the vendor publishes no paths.
        case "/conax-fairplay/certificate": .certificate
        case "/conax-fairplay/license": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        guard call.endpoint == .license else { return try call.certificateFile() }
        try call.require("POST")
        let keys = environment.authority.keys
        // Clients decode the base64 of the key URI; its text or its bytes are the content identifier.
        let question = LicenseQuestion(spc: try call.rawSPC(), keyName: nil) { keys.name(in: $0) }
        return .ckc(try await call.ckc(for: question), in: configuration.reply)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(Data(key.id.description.utf8).base64EncodedString())"
    }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/conax-fairplay/certificate", "licenseURL": "\(base)/conax-fairplay/license"]
    }
}
