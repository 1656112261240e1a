import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// EZDRM: raw licenses from a URL that ends in the asset's GUID.
///
/// Source: `vendors.md` §5.
public struct EZDRMService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// What the customer's authorization callback expects in the query's `customdata`; nil, the default, has no callback.
        public var customData: Secret?

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "ezdrm"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: the authorization callback.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        case "/demo/video/eleisure.cer": .certificate
        case "/api/licenses": .license
        case let path where path.hasPrefix("/api/licenses/"): .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try call.certificateFile() : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(host)/\(identifier)/;\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/demo/video/eleisure.cer", "licenseURL": "\(base)/api/licenses"]
    }

    public func demoToken() -> Secret { configuration.customData ?? Secret("") }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let asset = try asset(call)
        if let wanted = configuration.customData {
            guard Secret(try call.token(inQuery: "customdata")) == wanted else {
                throw .notCovered("The customer's callback does not allow it.")
            }
        }
        let question = LicenseQuestion(spc: try call.rawSPC(), keyName: asset?.description) { identifier in
            identifier.text.map(Self.asset)
        }
        return .octets(try await call.ckc(for: question))
    }

    /// The GUID that ends the path, with or without the `;` that some clients keep in front; nil for the bare base URL.
    private func asset(_ call: ServiceCall) throws(LicenseRefusal) -> KeyID? {
        var text = call.request.path.dropFirst("/api/licenses/".count)
        guard !text.isEmpty else {
            call.warn("assetInSPC", "the path names no asset; the SPC's counts")
            return nil
        }
        if text.hasPrefix(";") {
            call.warn("semicolon", "a “;” stands before the asset in the path")
            text = text.dropFirst()
        }
        guard let id = KeyID(String(text)) else { throw .malformed("The path does not end in an asset's GUID.") }
        return id
    }

    /// What stands behind the last `;`, or the last path component: the GUID alone, `;` and GUID, and the whole key URI are
    /// all in use.
    private static func asset(_ identifier: String) -> String {
        identifier.split(separator: /[;\/]/).last.map(String.init) ?? identifier
    }
}
