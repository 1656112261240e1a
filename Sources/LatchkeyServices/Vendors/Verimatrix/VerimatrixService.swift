import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyMedia
import LatchkeyVendorWire

/// Verimatrix's Streamkeeper Multi-DRM: licenses as JSON, and the form of the older, non-cloud product.
///
/// Source: `Documentation/Vendors/Verimatrix.md`.
package struct VerimatrixService: SignedTokenService {
    package let identifier: ServiceIdentifier = "verimatrix"
    package let environment: ServiceEnvironment
    /// The key that signs tokens, HS256, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    /// Whether the service answers the older product's form requests, which carry no token. Defaults to `true`.
    package var takesForms = true
    /// The seconds of `Retry-After` with a 503, chosen at random. Defaults to 1 to 5.
    package var retryAfter = 1...5

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var usualClaims: [String: JSONValue] {
        ["iat": .number(environment.time.date.timeIntervalSince1970.rounded(.down))]
    }

    package var routes: [ServiceRoute] {
        // The vendor publishes no path for the certificate.
        [.certificate("/fairplay/certificate"), .license("/fairplay", license)]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)?keyId=\(key.id)" }

    package var documentedRefusals: [DocumentedRefusal] { VerimatrixError.documented }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        guard call.endpoint == .license, let error = VerimatrixError(refusal) else {
            return .plain(refusal)
        }
        // The shape is not published; code and message are.
        var response = HTTPResponse.json(
            ["code": .text(error.code), "message": .text(refusal.reason)], status: error.status)
        if error.status == 503 { response.headers[.retryAfter] = "\(Int.random(in: retryAfter))" }
        return response
    }
}

extension VerimatrixService {
    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let isForm = call.request.headers.mediaType == "application/x-www-form-urlencoded"
        if isForm && takesForms { return try await formLicense(call) }
        guard let text = call.request.headers[.authorization] ?? call.request.queryValue("Authorization"),
            !text.isEmpty
        else { throw .tokenMissing("the header or the query item Authorization") }
        let token = try checked(text)
        try checkIssued(token)
        let body = try call.json()
        let spc = try Self.spc(try body.required("spc"), call)
        return .ckc(try await call.ckc(for: question(spc, token.claims)), in: .json)
    }

    /// A token needs `iat`, and lives until `iat` and 120 s, give or take 5 s, whatever its `exp` says.
    ///
    /// Source: docs.verimatrix.com/docs/authorization-overview, by `Documentation/Vendors/Verimatrix.md`, token.
    private func checkIssued(_ token: JSONWebToken) throws(LicenseRefusal) {
        guard let issued = token.claims["iat"]?.number else {
            throw LicenseRefusal(.vendor(code: "MDRM-509", status: 401), reason: "The token has no “iat”.")
        }
        let age = environment.time.date.timeIntervalSince1970 - issued
        guard age >= -5 else {
            throw LicenseRefusal(.vendor(code: "MDRM-510", status: 401), reason: "The token's “iat” is still to come.")
        }
        guard age <= 125 else { throw .tokenExpired("The token's “iat” is over by more than 120 s.") }
    }

    private func formLicense(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let form = try call.form()
        let field = try form.required("spc")
        // Documented is URL-safe base64 with padding. Standard base64 works, but may lose a `+`.
        let spc = field.contains(" ") ? try call.spc(in: form) : try Self.spc(field, call)
        return .ckc(try await call.ckc(for: question(spc, nil)), in: .tagged)
    }

    private func question(_ spc: Data, _ claims: JSONValue?) -> LicenseQuestion {
        // The ID between `skd://` and `?`; one client keeps the query.
        let name: @Sendable (ContentIdentifier) -> String? = { $0.text.map { KeyURI($0).remainderBeforeQuery } }
        let key = (claims?["sub"]?.text).map { RequestedKey.named($0, inSPC: name) } ?? .namedInSPC(name)
        return LicenseQuestion(spc: spc, key: key, terms: Self.terms(claims?["policy"]?["fairplay"]))
    }

    /// Both base64 alphabets are documented.
    private static func spc(_ text: String, _ call: ServiceCall) throws(LicenseRefusal) -> Data {
        let standard = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        return try call.base64(String(decoding: standard, as: UTF8.self), in: "spc")
    }

    /// The terms that the token's policy grants; `nil` if it states none.
    private static func terms(_ policy: JSONValue?) -> LicenseTerms? {
        if policy?["persistence"]?.flag == true {
            return LicenseTerms(policy?["persistence_duration"]?.seconds.map { .persistentFor($0) } ?? .persistent)
        }
        if policy?["lease"]?.flag == true, let lease = policy?["lease_duration"]?.seconds {
            return LicenseTerms(.lease(lease))
        }
        return policy?["key_duration"]?.seconds.map { LicenseTerms(.rental($0)) }
    }
}
