import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// CommScope's Titanium DRM: raw licenses for a token or for a registered device.
///
/// Source: `vendors.md` §7.
public struct TitaniumService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The customer that devices name; nil, the default, takes any.
        public var customerName: String?
        /// The key that tokens have to be signed with, HS256, at most 64 bytes; nil, the default, takes any.
        public var signingKey: Secret?

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "titanium"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: customer and signing key.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public var redaction: Redaction { Redaction(headers: ["X-TITANIUM-DRM-CDATA"]) }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        // The vendor publishes no paths; each operator configures them.
        switch request.path {
        case "/titanium/certificate.cer": .certificate
        case "/titanium/license": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try call.certificateFile() : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/titanium/certificate.cer", "licenseURL": "\(base)/titanium/license",
            "certificate": environment.inlineCertificate, "customerName": configuration.customerName ?? "demo",
            "accountName": "demo-account", "portalId": "demo-portal", "friendlyName": "Demo device",
        ]
    }

    public func demoToken() -> Secret { token() }

    /// A token that expires in an hour unless its claims say otherwise.
    /// - Parameter claims: a JSON object; other text counts as no claims.
    public func token(claims: String = "{}") -> Secret {
        let members = JSONWebToken.claims(claims, at: environment.time.date)
        return Secret(JSONWebToken.text(claims: .object(members), key: configuration.signingKey))
    }
}

extension TitaniumService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        try checkCredentials(call)
        let question = LicenseQuestion(spc: try call.rawSPC(), keyName: nil) { identifier in
            // What stands behind the last slash, or the whole where there is none.
            identifier.text.flatMap { $0.split(separator: "/").last.map(String.init) }
        }
        return .octets(try await call.ckc(for: question))
    }

    private func checkCredentials(_ call: ServiceCall) throws(LicenseRefusal) {
        let device = call.request.headers["X-TITANIUM-DRM-CDATA"]
        // The token wins where both are sent.
        if let token = try call.bearerToken() {
            if device != nil { call.warn("twoCredentials", "both token and device data; the token counts") }
            _ = try JSONWebToken.checked(
                token, algorithms: ["HS256", "RS256"], key: configuration.signingKey, date: environment.time.date)
        } else if let device, !device.isEmpty {
            try check(try registration(device, call), call)
        } else {
            throw .tokenMissing("the headers Authorization and X-TITANIUM-DRM-CDATA")
        }
    }

    private func registration(_ text: String, _ call: ServiceCall) throws(LicenseRefusal) -> JSONValue {
        let bytes = try call.base64(text, in: "X-TITANIUM-DRM-CDATA")
        guard let registration = JSONValue(bytes)?["LatensRegistration"] else {
            throw .tokenMalformed("The device data have no “LatensRegistration”.")
        }
        return registration
    }

    private func check(_ registration: JSONValue, _ call: ServiceCall) throws(LicenseRefusal) {
        for name in ["CustomerName", "AccountName", "PortalId"] where registration[name]?.text?.isEmpty != false {
            throw .tokenMalformed("The device data have no “\(name)”.")
        }
        guard let device = registration["DeviceInfo"] else {
            throw .tokenMalformed("The device data have no “DeviceInfo”.")
        }
        guard device["DRMType"]?.text?.lowercased() == "fairplay" else {
            throw .tokenMalformed("The “DRMType” of the device data is not FairPlay.")
        }
        if device["DeviceType"] == nil {
            guard device["varDeviceType"] != nil else { throw .tokenMalformed("The device data have no “DeviceType”.") }
            call.warn("varDeviceType", "“DeviceType” is spelled “varDeviceType”, as in the iOS sample")
        }
        guard configuration.customerName.map({ $0 == registration["CustomerName"]?.text }) ?? true else {
            throw .unknownTenant("There is no such customer.")
        }
    }
}
