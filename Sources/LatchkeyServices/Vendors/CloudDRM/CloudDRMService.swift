import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Insys's Cloud DRM (drm.cloud). Source: `Documentation/Vendors/CloudDRM.md`.
package struct CloudDRMService: SignedTokenService, VendorAPIService {
    package let environment: ServiceEnvironment
    /// The key that signs tokens, base64-decoded, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    /// Whether a token is valid for one license only, as a customer may ask for. Defaults to `false`.
    package var tokensAreSingleUse = false
    package var api = CloudDRMAPI()

    private var brand: String { api.brandGuid ?? "" }

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) {
        self.environment = environment
        api.brandGuid = "5f0c2a4e-7d1b-4c3e-9a86-0b1d2e3f4a5b"
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        let iv = key.content.iv.withUnsafeBytes { $0.hexString }
        return "skd://\(host)/\(identifier)/acquire-license/fairplay?BrandGuid=\(brand)&KID=\(key.id)&IV=\(iv)"
    }

    package func parameters(at base: String) -> [String: String] {
        [
            // As the console shows it: the endpoint needs the brand, and older clients use the address as it is.
            "certificateURL": "\(base)/certificate/fairplay?BrandGuid=\(brand)",
            "licenseURL": "\(base)/acquire-license/fairplay",
            "brandGuid": brand,
        ]
    }

    package func demoToken() -> Secret { token(claims: #"{"kid":["*"],"persistent":false}"#) }

    /// Source: developers.drm.cloud/licence-acquisition/error-codes, read on 2026-11-27.
    package var documentedRefusals: [DocumentedRefusal] {
        DocumentedRefusal.all(
            403,
            """
            drm_3030 drm_3031 drm_3032 drm_3033 drm_3034 drm_3035 drm_3036 drm_3037 drm_3038 drm_3039 drm_3100 drm_4002 drm_4003 drm_4005
            """) + DocumentedRefusal.all(500, "common_3")
    }

    /// The key in base64, as the vendor's console shows it.
    package var tokenKeys: [String: Secret] {
        signingKey.map { ["signingKey": Secret($0.revealed.base64EncodedString())] } ?? [:]
    }

    package func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        let reply = try api.certificate(try call.certificate(), for: call)
        if let token = call.request.queryValue("UserToken") ?? call.request.headers["x-drm-usertoken"] {
            _ = try CloudDRMToken(token, key: signingKey, date: environment.time.date)
        }
        return reply
    }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        guard let text = token, !text.isEmpty else {
            throw .tokenMissing("the header x-drm-usertoken or the query item UserToken")
        }
        let token = try CloudDRMToken(text, key: signingKey, date: environment.time.date)
        guard let id = question.key.name.flatMap({ KeyID($0) }), token.covers(id) else {
            try call.breach(of: CloudDRMAPI.keyList, "The token does not list the key \(question.key.name ?? "").")
            return VendorGrant(tokenID: text)
        }
        var grant = VendorGrant(tokenID: text)
        grant.terms = token.terms(at: environment.time.date)
        if tokensAreSingleUse { grant.use = .license }
        return grant
    }
}
