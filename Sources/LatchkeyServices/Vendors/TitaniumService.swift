import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
package import LatchkeyVendorWire

/// CommScope's Titanium DRM, for tokens and for registered devices. Source: `Documentation/Vendors/Titanium.md`.
package struct TitaniumService: SignedTokenService, VendorAPIService {
    package let environment: ServiceEnvironment
    /// The customer that devices name. Defaults to `nil`: any.
    package var customerName: String?
    /// The key that signs tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    package let api = TitaniumAPI()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(headers: [TitaniumAPI.deviceData.rawValue]) }

    package func parameters(at base: String) -> [String: String] {
        addresses(at: base).merging([
            "certificate": environment.inlineCertificate, "customerName": customerName ?? "demo",
            "accountName": "demo-account", "portalId": "demo-portal", "friendlyName": "Demo device",
        ]) { $1 }
    }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        let device = call.request.headers[TitaniumAPI.deviceData]
        // The token counts if both are sent.
        if let token {
            if device != nil { call.warn("twoCredentials", "both token and device data; the token counts") }
            _ = try checked(token, algorithms: ["HS256", "RS256"])
        } else if let device, !device.isEmpty {
            try check(try registration(device, call), call)
        } else {
            throw .tokenMissing("the headers Authorization and X-TITANIUM-DRM-CDATA")
        }
        return question.grant
    }
}

extension TitaniumService {
    private func registration(_ text: String, _ call: ServiceCall) throws(LicenseRefusal) -> JSONValue {
        let bytes = try call.base64(text, in: "X-TITANIUM-DRM-CDATA")
        guard let registration = JSONValue(bytes)?["LatensRegistration"] else {
            throw .tokenMalformed("The device data have no “LatensRegistration”.")
        }
        return registration
    }

    private func check(_ registration: JSONValue, _ call: ServiceCall) throws(LicenseRefusal) {
        for name in ["CustomerName", "AccountName", "PortalId"] where registration[name]?.text?.isEmpty != false {
            try call.breach(of: TitaniumAPI.registration, "The device data have no “\(name)”.")
        }
        guard let device = registration["DeviceInfo"] else {
            throw .tokenMalformed("The device data have no “DeviceInfo”.")
        }
        guard device["DRMType"]?.text?.lowercased() == "fairplay" else {
            throw .tokenMalformed("The “DRMType” of the device data is not FairPlay.")
        }
        if device["DeviceType"] == nil {
            try call.breach(of: TitaniumAPI.deviceType, "The device data have no “DeviceType”.")
        }
        guard customerName.map({ $0 == registration["CustomerName"]?.text }) ?? true else {
            throw .unknownTenant("There is no such customer.")
        }
    }
}
