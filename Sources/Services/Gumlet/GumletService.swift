import Foundation
import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Gumlet: license requests as JSON with the SPC in URL-safe base64.
///
/// Source: `vendors.md` §19.
public struct GumletService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// How the CKC is written; clients take any form. Default JSON.
        public var reply = CKCEnvelope.json

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "gumlet"
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
        // The vendor publishes no paths.
        case "/gumlet-fairplay/certificate": .certificate
        case "/gumlet-fairplay/license": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        guard call.endpoint == .license else { return try call.certificateFile() }
        try call.require("POST")
        let keys = environment.authority.keys
        let question = LicenseQuestion(spc: try spc(call), keyName: nil) { keys.name(in: $0) }
        return .ckc(try await call.ckc(for: question), in: configuration.reply)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/gumlet-fairplay/certificate", "licenseURL": "\(base)/gumlet-fairplay/license"]
    }

    /// The SPC in the URL-safe alphabet, or with a warning in the standard one.
    private func spc(_ call: ServiceCall) throws(LicenseRefusal) -> Data {
        let text = try call.json().required("spc")
        if text.contains("+") || text.contains("/") {
            call.warn("base64", "“spc” is not in the URL-safe alphabet")
        }
        guard let spc = Data(lenientBase64: text) else { throw .malformed("“spc” is not base64.") }
        return spc
    }
}
