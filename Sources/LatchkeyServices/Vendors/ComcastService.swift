import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
package import LatchkeyMedia
import LatchkeyVendorWire

/// Comcast's thePlatform: licenses as nested JSON, for a token and an account in the query.
///
/// Source: `Documentation/Vendors/Comcast.md`.
package struct ComcastService: VendorService {
    package let identifier: ServiceIdentifier = "comcast"
    package let environment: ServiceEnvironment
    /// The account that the service accepts. Defaults to `nil`: any.
    package var account: String?
    /// The token that the service accepts. Tokens are opaque. Defaults to `nil`: any.
    package var token: Secret?

    /// The release of the demonstration: the first key, for clients that write nothing but the release into the SPC.
    private var release: String { environment.keys.keys.first?.id.bytes.hexString ?? "latchkey" }

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var routes: [ServiceRoute] {
        // The vendor publishes no path for the certificate.
        [.certificate("/fpls/web/FairPlay/certificate"), .license("/fpls/web/FairPlay", license)]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String { "skd://FairPlay/\(key.id)" }

    package func parameters(at base: String) -> [String: String] {
        var parameters = addresses(at: base)
        parameters["licenseURL"]? += "?schema=1.0&form=json"
        return parameters.merging(["account": account ?? "latchkey", "releasePid": release]) { $1 }
    }

    package func demoToken() -> Secret { token ?? Secret("latchkey-demo-token") }
}

extension ComcastService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try checkQuery(call)
        guard let body = try call.json()["getFairplayLicense"] else {
            throw .malformed("“getFairplayLicense” is missing.")
        }
        let release = try body.required("releasePid")
        let spc = try call.spc(in: body, "spcMessage")
        let keys = environment.keys
        let key = RequestedKey.namedInSPC { identifier in
            if !identifier.description.contains(release) {
                call.warn("releasePid", "the SPC's content identifier lacks the release")
            }
            return keys.name(in: identifier)
        }
        let ckc = try await call.ckc(for: LicenseQuestion(spc: spc, key: key)).base64EncodedString()
        return .json(["getFairplayLicenseResponse": .object(["ckcResponse": .text(ckc)])])
    }

    private func checkQuery(_ call: ServiceCall) throws(LicenseRefusal) {
        for (name, value) in [("schema", "1.0"), ("form", "json")] where call.request.queryValue(name) != value {
            call.warn("query", "“\(name)” is not “\(value)”")
        }
        let token = try call.token(inQuery: "token")
        guard let account = call.request.queryValue("account"), !account.isEmpty else {
            throw .malformed("The query has no “account”.")
        }
        guard self.token.map({ $0 == Secret(token) }) ?? true else {
            throw .tokenMalformed("The token is not the configured one.")
        }
        guard self.account.map({ $0 == account }) ?? true else {
            throw .unknownTenant("There is no account “\(account.prefix(80))”.")
        }
    }
}
