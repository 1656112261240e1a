import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyVendorWire

/// DoveRunner, formerly PallyCon: the certificate in base64 and in DER form, licenses for form requests, and errors with status 200.
///
/// Source: `Documentation/Vendors/DoveRunner.md`.
package struct DoveRunnerService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The four characters of the one site that the service accepts. Defaults to `nil`: any.
    package var siteID: String?
    /// The site's access key, which is hashed into every token. Defaults to `nil`: any hash.
    package var accessKey: Secret?
    /// The maximum age of a token, which may not be from the future either. `nil` accepts any time. Defaults to 600 s, as documented.
    package var tokenLifetime: Duration? = .seconds(600)
    /// The status of errors. Defaults to 200: documented for certificates, not stated for licenses.
    package var errorStatus = 200
    /// Whether the license endpoint's errors are nested in the message of an error 8002. Defaults to `false`.
    package var nestsErrors = false
    /// How the CKC is written. The vendor's page lists tags, too. Defaults to base64.
    package var ckc = CKCEnvelope.base64

    /// The site of the demonstration.
    private var site: String { siteID ?? "DEMO" }

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var api: DoveRunnerAPI {
        var api = DoveRunnerAPI()
        (api.siteID, api.accessKey) = (siteID, accessKey)
        api.tokenLifetime = environment.tokenLifetime ?? tokenLifetime
        (api.requiresContent, api.errorStatus, api.nestsErrors, api.ckc) = (false, errorStatus, nestsErrors, ckc)
        api.statesStatus = true
        return api
    }

    package var redaction: Redaction { Redaction(headers: [DoveRunnerToken.field]) }

    package func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/ri/fpsKeyManager.do?siteId=\(site)",
            "licenseURL": "\(base)/ri/licenseManager.do", "siteId": site,
        ]
    }

    package func demoToken() -> Secret { token() }

    package var tokenKeys: [String: Secret] {
        accessKey.map { ["siteId": Secret(site), "accessKey": $0] } ?? [:]
    }

    /// A token made now, for all content unless its claims have a `cid`.
    /// - Parameter claims: a JSON object with claims in place of the usual ones; any other text counts as no claims. A readable
    ///   policy is the base64 of a JSON object with `persistent`, `license_duration` and so on.
    package func token(claims: String = "{}") -> Secret {
        var members: [String: JSONValue] = [
            "drm_type": "FairPlay", "site_id": site, "user_id": "latchkey", "policy": "AAAAAAAAAAAAAAAAAAAAAA==",
            "timestamp": environment.time.date.formatted(.iso8601), "response_format": "original",
        ].mapValues { .text($0) }
        if case .object(let stated) = JSONValue(Data(claims.utf8)) { members.merge(stated) { $1 } }
        let hash =
            accessKey.map { DoveRunnerToken.hash(of: .object(members), key: $0) } ?? Data(count: 32)
        members["hash"] = members["hash"] ?? .text(hash.base64EncodedString())
        return Secret((HTTPResponse.json(members).bytes ?? Data()).base64EncodedString())
    }

    /// Source: `Documentation/Vendors/DoveRunner.md`, P4.
    package var documentedRefusals: [DocumentedRefusal] {
        DocumentedRefusal.all(errorStatus, at: [.license, .certificate], "1003 7301")
            + DocumentedRefusal.all(
                errorStatus,
                "7001 7009 7011 7012 7016 7018 7019 7304 7305 7308 7316 7317 8002 8710 8711 9001 9999")
    }
}

extension DoveRunnerService {
    package func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        guard environment.authority.certificate != nil else {
            throw .doveRunner("7301", "The site has no FairPlay certificate.")
        }
        return try api.certificate(try call.certificate(), for: call)
    }
}
