import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// castLabs' DRMtoday: licenses for form requests, results in header fields.
///
/// Source: `Documentation/Vendors/DRMtoday.md`.
package struct DRMtodayService: VendorService {
    package let identifier: ServiceIdentifier = "drmtoday"
    package let environment: ServiceEnvironment
    /// The customer. Defaults to `nil`: any.
    package var merchant: String?
    /// The key that signs tokens, HS512, at most 64 bytes. Defaults to `nil`: any.
    package var signingKey: Secret?
    /// Whether a token is valid for one license only. Defaults to `false`.
    package var tokensAreSingleUse = false
    /// How the CKC is written. Defaults to base64.
    package var ckc = CKCEnvelope.base64
    private let used = UsedTokens()

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction {
        Redaction(headers: ["x-dt-custom-data", "dt-custom-data", "x-dt-auth-token"])
    }

    package var routes: [ServiceRoute] {
        [
            .license("/license-server-fairplay/", license),
            .certificate("/license-server-fairplay/cert", certificate),
            .certificate("/license-server-fairplay/cert/{merchant}", certificate),
        ]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://drmtoday?assetId=\(key.id)&variantId=&keyId=\(key.id.bytes.hexString)&keyRotationId=0"
    }

    package func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/license-server-fairplay/cert/\(demoMerchant)",
            "licenseURL": "\(base)/license-server-fairplay/", "merchant": demoMerchant, "userId": "demo-user",
            "sessionId": "demo-session",
        ]
    }

    /// The customer of the demonstration.
    private var demoMerchant: String { merchant ?? "latchkey" }

    package func demoToken() -> Secret { token() }

    package var tokenKeys: [String: Secret] { signingKey.map { ["sharedSecret": $0] } ?? [:] }

    /// A token for any asset.
    /// - Parameters:
    ///   - right: a JSON object with members of the token's one right in place of the usual ones.
    ///   - number: the `jti`. Defaults to a new one.
    package func token(right: String = "{}", number: String = UUID().uuidString) -> Secret {
        var members: [String: JSONValue] = [
            "accountingId": .text("latchkey"), "profile": .object(["purchase": .object([:])]),
            "storeLicense": .flag(true),
        ]
        if case .object(let stated) = JSONValue(Data(right.utf8)) { members.merge(stated) { $1 } }
        let options = #"{"userId":"demo-user","merchant":"\#(demoMerchant)","sessionId":"demo-session"}"#
        let rights = (try? JSONEncoder().encode([JSONValue.object(members)])) ?? Data()
        let claims: [String: JSONValue] = [
            "crt": .text(String(decoding: rights, as: UTF8.self)), "optData": .text(options), "jti": .text(number),
            "iat": .number(environment.time.date.timeIntervalSince1970.rounded()),
        ]
        return Secret(JSONWebToken.text(claims: .object(claims), key: signingKey, algorithm: "HS512"))
    }

    /// The codes are public; statuses are stated as others than 2xx, and inferred here.
    ///
    /// Source: `Documentation/Vendors/DRMtoday.md`, DT3 and DT4.
    package var documentedRefusals: [DocumentedRefusal] {
        DocumentedRefusal.all(500, "1000") + DocumentedRefusal.all(400, "2000 10001 30000 43000")
            + DocumentedRefusal.all(403, "3000 20101 60000 60001 60100 70000 70001 80000 80001 90000 90001")
    }

    package func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse { .drmToday(refusal) }
}

extension DRMtodayService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        // Without a merchant in the path, the credentials of a license say whose certificate it is.
        let merchant = call.path["merchant"]
        if merchant.isEmpty { _ = try credentials(call) } else { try checkMerchant(merchant) }
        return HTTPResponse.octets(try call.certificate()).goodOfDRMtoday
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        let token = try credentials(call)
        let form = try call.form()
        let spc = try call.spc(in: form)
        let isOffline = (call.request.queryValue("offline") ?? form["offline"]) == "true"
        guard !isOffline || token?.storesLicenses != false else {
            throw .notCovered("The token does not let licenses be stored.")
        }
        if let token, tokensAreSingleUse, !used.add(Secret(token.number)) { throw .tokenUsed }
        // The form's values have precedence over those of the SPC.
        let name: @Sendable (ContentIdentifier) -> String? = { DRMtodayAsset($0).keyName }
        let key = (form["keyId"] ?? form["assetId"]).map { RequestedKey.named($0, inSPC: name) } ?? .namedInSPC(name)
        let terms = isOffline ? LicenseTerms(.persistent) : nil
        let question = LicenseQuestion(spc: spc, key: key, terms: terms) { _, identifier in
            let asset = DRMtodayAsset(identifier)
            return token?.objection(
                toAsset: form["assetId"] ?? asset.assetID, variant: form["variantId"] ?? asset.variantID)
        }
        return HTTPResponse.ckc(try await call.ckc(for: question), in: ckc).goodOfDRMtoday
    }

    /// Checks custom data and token. At least one has to be sent.
    private func credentials(_ call: ServiceCall) throws(LicenseRefusal) -> DRMtodayToken? {
        let headers = call.request.headers
        let token = headers[DRMtodayToken.field].flatMap { $0.isEmpty ? nil : $0 }
        let custom = headers[DRMtodayToken.customDataField] ?? headers["dt-custom-data"]
        guard token != nil || custom?.isEmpty == false else {
            throw .tokenMissing("the headers x-dt-auth-token and x-dt-custom-data")
        }
        if let custom, !custom.isEmpty { try checkCustomData(custom, call) }
        guard let token else { return nil }
        let checked = try DRMtodayToken(token, key: signingKey, date: environment.time.date)
        try checkMerchant(checked.merchant)
        return checked
    }

    private func checkCustomData(_ text: String, _ call: ServiceCall) throws(LicenseRefusal) {
        let data = JSONValue(try call.base64(text, in: "x-dt-custom-data"))
        for name in ["userId", "sessionId", "merchant"] where data?[name]?.text == nil {
            throw .tokenMalformed("The custom data have no “\(name)”.")
        }
        try checkMerchant(data?["merchant"]?.text ?? "")
    }

    private func checkMerchant(_ name: String) throws(LicenseRefusal) {
        guard merchant.map({ $0 == name }) ?? !name.isEmpty else {
            throw .unknownTenant("There is no such merchant.")
        }
    }
}
