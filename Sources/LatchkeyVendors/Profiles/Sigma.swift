import LatchkeyCore

/// Sigma Multi-DRM.
///
/// Source: docs.sigmadrm.com/multi-safari.html and the vendor's SDK for iOS and tvOS (its content key delegate), read on
/// 22 November 2026. The key URI is the license URL with `assetId` and `keyId`; the SPC names the key by `assetId`. The
/// header `custom-data` identifies the viewer, as JSON in base64. The page sends the SPC as JSON (`sigma`), the SDK as a form
/// (`sigma-form`); the reply states the lease in `expireTime`, as the SDK reads it.
extension VendorProfile {
    /// The SPC travels as JSON, as on the vendor's page.
    package static let sigma = VendorProfile(
        identifier: "sigma", name: "Sigma Multi-DRM",
        parameters: [
            .setting("merchantId", "merchant's id, from the dashboard", required: true, example: "merchant"),
            .setting("appId", "app's id, from the dashboard", required: true, example: "app"),
            .setting("userId", "viewer's id", required: true, example: "viewer-1"),
            .certificateURL(
                "address of the certificate, where it is not the app's",
                example: "https://cert.sigmadrm.com/app/fairplay/merchant/app"),
            .licenseURL(
                "address of the license service, where it is not the key URI's",
                example: "https://license.sigmadrm.com/license/verify/fairplay"),
            .token("viewer's session, which the customer's own server knows", example: "session-1"),
        ],
        contentIdentifierRule: sigmaAsset,
        certificate: .fetched(
            RequestRule(
                url: URLRule(
                    .firstOf([
                        .certificateURL,
                        .template("https://cert.sigmadrm.com/app/fairplay/{merchantId}/{appId}"),
                    ]))),
            .der),
        license: sigmaLicense(
            .json(["spc": .rule(.spc), "assetId": .rule(.percentEncoded(.contentID))])),
        decoder: .json(["license"]),
        terms: TermsRule(lease: .firstOf([.reply("expireTime"), .reply("expire_time"), .reply("expiredTime")])),
        hosts: ["license.sigmadrm.com", "license-staging.sigmadrm.com"],
        statedRedaction: Redaction(headers: ["custom-data"]),
        evidence: ProfileEvidence(.documented, read: "2026-11-22", "docs.sigmadrm.com/multi-safari.html"))

    /// The SPC travels in a form, as from the vendor's SDK.
    package static let sigmaForm = variant(of: .sigma, "sigma-form", "Sigma Multi-DRM (SDK)") {
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-22", "the vendor's SDK for iOS")
        $0.license = sigmaLicense(
            .form([.init("spc", .spc), .init("assetId", .contentID), .init("keyId", .query("keyId"))]))
    }

    private static let sigmaAsset = TextRule.firstOf([.percentDecoded(.query("assetId")), .query("assetId")])

    private static func sigmaLicense(_ body: BodyRule) -> RequestRule {
        let customer: JSONTemplate = [
            "userId": .rule(.setting("userId")), "sessionId": .rule(.token),
            "merchantId": .rule(.setting("merchantId")), "appId": .rule(.setting("appId")),
        ]
        return RequestRule(
            method: "POST",
            url: URLRule(
                .firstOf([.licenseURL, .httpsURI]),
                [.copyKeyURIQueryIfAbsent(names: ["assetId", "keyId"])]),
            headers: [.init("custom-data", .base64(.json(customer)))], body: body)
    }
}
