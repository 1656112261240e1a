import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyVendorWire

/// CommScope's Titanium DRM: raw licenses for a token or for a registered device.
///
/// Source: `Documentation/Vendors/Titanium.md`.
package struct TitaniumService: SignedTokenService {
    package let identifier: ServiceIdentifier = "titanium"
    package let environment: ServiceEnvironment
    /// The customer that devices name. Defaults to `nil`: any.
    package var customerName: String?
    /// The key that signs tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(headers: [HTTPHeaderName.deviceData.rawValue]) }

    // The vendor publishes no paths; each operator configures them.
    package var routes: [ServiceRoute] {
        [.certificate("/titanium/certificate.cer"), .license("/titanium/license", license)]
    }

    package func parameters(at base: String) -> [String: String] {
        addresses(at: base).merging([
            "certificate": environment.inlineCertificate, "customerName": customerName ?? "demo",
            "accountName": "demo-account", "portalId": "demo-portal", "friendlyName": "Demo device",
        ]) { $1 }
    }
}

extension HTTPHeaderName {
    fileprivate static let deviceData: HTTPHeaderName = "X-TITANIUM-DRM-CDATA"
}

extension TitaniumService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try checkCredentials(call)
        // The text after the last slash, or the whole without one.
        let key = RequestedKey.namedInSPC { $0.text.flatMap { $0.split(separator: "/").last.map(String.init) } }
        return .octets(try await call.ckc(for: LicenseQuestion(spc: try call.rawSPC(), key: key)))
    }

    private func checkCredentials(_ call: ServiceCall) throws(LicenseRefusal) {
        let device = call.request.headers[.deviceData]
        // The token counts if both are sent.
        if let token = try call.bearerToken() {
            if device != nil { call.warn("twoCredentials", "both token and device data; the token counts") }
            _ = try checked(token, algorithms: ["HS256", "RS256"])
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
        guard customerName.map({ $0 == registration["CustomerName"]?.text }) ?? true else {
            throw .unknownTenant("There is no such customer.")
        }
    }
}
