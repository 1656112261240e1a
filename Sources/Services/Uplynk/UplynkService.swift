import Foundation
import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Uplynk: licenses as JSON, from the URL that the key URI is but for its scheme.
///
/// Requests carry no credentials but what stands in the signed key URI, which nobody outside Uplynk can read.
///
/// Source: `vendors.md` §4.
public struct UplynkService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The owner in the certificate's path; nil, the default, takes any.
        public var owner: String?

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "uplynk"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: the owner.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        // The vendor publishes no path of the license service; clients take it from the key URI.
        case "/fairplay/ksm": .license
        case let path where path.hasPrefix("/fairplay/public_key/") && isOwner(path.dropFirst(21)): .certificate
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try call.certificateFile() : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String {
        // As the vendor's: asset first, third the id under which a playback is logged.
        "skd://\(host)/\(identifier)/fairplay/ksm?b=\(key.id.bytes.hexString)&v=1&ray=latchkey"
    }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/fairplay/public_key/\(configuration.owner ?? "demo").cer"]
    }

    private func isOwner(_ file: Substring) -> Bool {
        guard file.hasSuffix(".cer"), !file.contains("/") else { return false }
        let name = file.dropLast(4)
        return configuration.owner.map { $0 == name } ?? !name.isEmpty
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let asset = try asset(call)
        let body = try call.json()
        let spc = try call.spc(in: body)
        if let stated = body["assetId"]?.text, stated != asset {
            throw .malformed("“assetId” is not the asset of the URL.")
        }
        return .ckc(try await call.ckc(for: LicenseQuestion(spc: spc, keyName: asset)), in: .json)
    }

    /// The query's `b`, else its first item, as the vendor's own samples read it.
    private func asset(_ call: ServiceCall) throws(LicenseRefusal) -> String {
        if let asset = call.request.queryValue("b"), !asset.isEmpty { return asset }
        guard let first = call.request.queryItems.first?.value, !first.isEmpty else {
            throw .malformed("The query names no asset.")
        }
        call.warn("assetItem", "the asset stands in another query item than “b”")
        return first
    }
}
