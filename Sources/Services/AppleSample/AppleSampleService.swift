import Foundation
import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// The convention of Apple's sample key server: a form with SPC and asset, answered by a CKC in text.
///
/// Source: `vendors.md` §21.
public struct AppleSampleService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// How the CKC is written. Default between tags, on a line of its own.
        public var ckc = CKCText.tagged

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "apple-sample"
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
        // The sample's clients have both addresses in their settings.
        case "/ksm/certificate.cer": .certificate
        case "/ksm": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        guard call.endpoint == .license else { return try call.certificateFile() }
        try call.require("POST")
        let form = try call.form()
        let spc = try call.spc(in: form)
        let asset = try form.required("assetId")
        let keys = environment.authority.keys
        let question = LicenseQuestion(spc: spc, keyName: keys.name(in: ContentIdentifier(asset))) {
            keys.name(in: $0)
        }
        let ckc = try await call.ckc(for: question)
        guard configuration.ckc == .tagged else { return .ckc(ckc, as: .bare) }
        return .text("\n<ckc>\(ckc.base64EncodedString())</ckc>\n")
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/ksm/certificate.cer", "licenseURL": "\(base)/ksm"]
    }
}
