package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// DRMtoday's wire: licenses for form requests, results in header fields.
///
/// Source: `Documentation/Vendors/DRMtoday.md`.
package struct DRMtodayAPI: VendorAPI {
    package static let name: VendorAPIName = "drmtoday"
    package static let tokenFields = [DRMtodayToken.field, DRMtodayToken.customDataField, "dt-custom-data"]
    /// The customer; `nil` accepts any.
    package var merchant: String?
    /// The key that signs tokens, HS512, at most 64 bytes; `nil` accepts any signature.
    package var signingKey: Secret?
    /// The maximum age of a token, by its `iat`; `nil` accepts any age.
    package var tokenLifetime: Duration?
    /// Whether a token is limited to one session.
    package var tokensAreSingleUse = false
    /// Whether custom data, which is unsigned, is enough. Then the credentials say whose certificate a path without a merchant is for.
    package var takesCustomData = false
    /// How the CKC is written.
    package var ckc = CKCEnvelope.base64

    package static let rules = [
        VendorRule(
            "tokenOnce", .tokenUsed, "DT9",
            "`jti` is unique, for replay protection: a token answers one license request (inferred).")
    ]

    package init() {}

    package var routes: [Route<VendorEndpoint>] {
        [
            .license("/license-server-fairplay/"), .certificate("/license-server-fairplay/cert"),
            .certificate("/license-server-fairplay/cert/{merchant}"),
        ]
    }

    package func certificate(
        _ certificate: Data, for call: some VendorRequest
    ) throws(LicenseRefusal) -> HTTPResponse {
        let merchant = call.path["merchant"]
        if !merchant.isEmpty { try checkMerchant(merchant) } else if takesCustomData { _ = try credentials(call) }
        return HTTPResponse.octets(certificate).goodOfDRMtoday
    }

    package func licenseRequest(_ call: some VendorRequest) throws(LicenseRefusal) -> LicenseQuestion {
        let token = try credentials(call)
        var grant = VendorGrant(tokenID: token?.number ?? "")
        (grant.account, grant.session, grant.issued) = (token?.userID, token?.sessionID, token?.issued)
        if let tokenLifetime, let token {
            guard let issued = token.issued else { throw .tokenMalformed("The token has no “iat”.") }
            grant.expires = try Self.expiry(of: issued, "iat", tokenLifetime, call)
        }
        grant.use = tokensAreSingleUse && token != nil ? .session : .any
        let form = try call.form()
        let spc = try call.spc(in: form)
        let isOffline = (call.request.queryValue("offline") ?? form["offline"]) == "true"
        guard !isOffline || token?.storesLicenses != false else {
            throw .notCovered("The token does not let licenses be stored.")
        }
        let limits = try token?.limits() ?? []
        // The form's values have precedence over those of the SPC.
        let (asset, variant) = (form["assetId"], form["variantId"])
        return LicenseQuestion(
            spc: spc,
            key: RequestedKey(
                name: form["keyId"] ?? asset, inSPC: { DRMtodayAsset($0).keyName },
                content: { $0.map { DRMtodayAsset($0).assetID } ?? asset }),
            grant: grant, isStored: isOffline,
            objection: { key, identifier in
                let named = DRMtodayAsset(identifier)
                // A key of unknown content belongs to any asset.
                if let asset = asset ?? named.assetID, !key.facts.content.isEmpty, !key.isNamed(asset) {
                    return .notCovered("The key is not one of the asset's.")
                }
                return token?.objection(
                    toAsset: asset ?? named.assetID, variant: variant ?? named.variantID)
            },
            narrow: { [date = call.date] grant, _, identifier throws(LicenseRefusal) in
                // The app states the variant, but the server's keys have none: the limits of all count.
                let named = asset ?? DRMtodayAsset(identifier).assetID
                let covering = limits.filter { $0.right.covers(asset: named) }
                guard !isOffline || covering.allSatisfy(\.right.storesLicense) else {
                    throw .notCovered("The token does not let licenses of the asset be stored.")
                }
                let limit = covering.reduce(DRMtodayRight.Limits()) { $0.joined(with: $1.limits) }
                grant.output = limit.output
                grant.terms =
                    try limit.terms(isStored: isOffline, at: date)
                    ?? (isOffline ? LicenseTerms(.persistent) : nil)
            })
    }

    package func reply(_ ckc: Data, on terms: LicenseTerms, to call: some VendorRequest) -> HTTPResponse {
        HTTPResponse.ckc(ckc, in: self.ckc).goodOfDRMtoday
    }

    package func reply(to refusal: LicenseRefusal, of call: some VendorRequest) -> HTTPResponse { .drmToday(refusal) }
}

extension DRMtodayAPI {
    /// Checks custom data and token.
    /// - Returns: the token; `nil` where custom data are enough and there are no others.
    private func credentials(_ call: some VendorRequest) throws(LicenseRefusal) -> DRMtodayToken? {
        let headers = call.request.headers
        guard takesCustomData else { return try checked(try call.token(inHeader: DRMtodayToken.field), call) }
        let token = headers[DRMtodayToken.field].flatMap { $0.isEmpty ? nil : $0 }
        let custom = headers[DRMtodayToken.customDataField] ?? headers["dt-custom-data"]
        guard token != nil || custom?.isEmpty == false else {
            throw .tokenMissing("the headers x-dt-auth-token and x-dt-custom-data")
        }
        if let custom, !custom.isEmpty { try checkCustomData(custom, call) }
        guard let token else { return nil }
        return try checked(token, call)
    }

    private func checked(_ text: String, _ call: some VendorRequest) throws(LicenseRefusal) -> DRMtodayToken {
        let token = try DRMtodayToken(text, key: signingKey, date: call.date)
        try checkMerchant(token.merchant)
        return token
    }

    private func checkCustomData(_ text: String, _ call: some VendorRequest) throws(LicenseRefusal) {
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
