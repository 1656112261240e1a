import LatchkeyCore

/// NAVER Cloud's One Click Multi DRM, which DoveRunner's service is behind. Source: `Documentation/Vendors/Naver.md`.
///
/// Both requests carry the viewer's token, which is JSON in base64, and the fields that the API gateway requires: an access key, a time and
/// a signature of this very request. The secret signing key belongs on the app's own server, which gives the app one signature for each of
/// the two addresses, or adds the fields itself as a proxy; a field without a value is left out.
extension VendorProfile {
    /// The certificate and the license from NAVER's API gateway.
    package static let naver = VendorProfile(
        identifier: "naver", name: "NAVER Cloud One Click Multi DRM",
        parameters: [
            .certificateURL(example: naverCertificateURL),
            .licenseURL(example: naverLicenseURL),
            .setting("accessKey", "id of the access key that signs, unless a proxy adds it", example: "ACCESSKEY"),
            .token(
                "base64 of JSON with siteId, contentId, drmType FAIRPLAY, responseFormat ORIGINAL and userId",
                example: "eyJkcm1UeXBlIjoiRkFJUlBMQVkifQ=="),
            .credential(
                "timestamp", "when the signatures were made, in milliseconds since 1970", required: false,
                example: "1893456000000"),
            .credential(
                "certificateSignature", "signature of the certificate request, in base64", required: false,
                example: "AAAA"),
            .credential(
                "licenseSignature", "signature of the license request, in base64", required: false, example: "AAAA"),
        ],
        contentIdentifierRule: .remainder,
        certificate: .fetched(
            RequestRule(url: URLRule(.certificateURL), headers: naverHeaders(signature: "certificateSignature")), .sniff
        ),
        license: RequestRule(
            method: "POST", url: URLRule(.licenseURL), headers: naverHeaders(signature: "licenseSignature"),
            body: .form([.init("spc", .spc)])),
        decoder: .tolerant,
        errors: ErrorRules(
            code: [.json("error.errorCode"), .json("error.code")], message: [.json("error.message")],
            codes: naverCodes.codes),
        hosts: ["multi-drm.apigw.ntruss.com", "multi-drm.apigw.gov-ntruss.com"],
        settings: [SettingName.certificateURL: naverCertificateURL, SettingName.licenseURL: naverLicenseURL],
        evidence: ProfileEvidence(
            .sampleRead, read: "2026-11-27", "a helper of NAVER's player, the beginning of api.ncloud-docs.com's page"))

    private static func naverHeaders(signature: String) -> [RequestRule.Header] {
        [
            .init("X-DRM-TOKEN", .token), .init("x-ncp-region_code", "KR"),
            .init("x-ncp-iam-access-key", .setting("accessKey")),
            .init("x-ncp-apigw-timestamp", .credential("timestamp")),
            .init("x-ncp-apigw-signature-v2", .credential(signature)),
        ]
    }

    private static let naverCertificateURL = "https://multi-drm.apigw.ntruss.com/api/v1/license/fairPlay"
    private static let naverLicenseURL = "https://multi-drm.apigw.ntruss.com/api/v1/license"

    /// The codes of NAVER's API gateway, of which some look like HTTP statuses, and of the service behind it. Source: `Documentation/Vendors/Naver.md`, errors.
    static let naverCodes = CodeTable(
        """
        100 | invalidRequest | The gateway cannot read the request. | Send the request over https, as UTF-8. | 400
        200 | unauthenticated | The gateway does not accept the signature. | Sign each request anew: a signature is for one method, path and time. | 401
        210 | forbidden | The access key has no permission for this. | Give the access key's account the permission for One Click Multi DRM. | 401 | sameCredentials
        300 | notFound | The gateway knows no such address. | | 404
        400 | rateLimited | The quota is used up. | | 429
        410 | rateLimited | The gateway throttles. | | 429
        420 | rateLimited | Requests come too fast. | | 429
        430 | invalidRequest | The request is too large. | | 413
        500 | serverTransient | The gateway could not reach the service. | | 503
        510 | serverTransient | The service did not answer the gateway in time. | | 504
        900 | serverTransient | The gateway failed inside. | | 500
        280000 | serverTransient | The service met an unexpected error.
        280001 | invalidRequest | The service cannot read the JSON. | Make the token of JSON in base64, without blanks.
        280002 | serverTransient | The service met an error that it does not handle.
        280003 | invalidRequest | A parameter has the wrong type. | Compare the token's members with the vendor's page.
        281003 | notFound | The service knows no such site. | Check the token's siteId against NAVER's console.
        281004 | forbidden | The site is not in use. | Put the site into use in NAVER's console. | | sameCredentials
        281005 | forbidden | The site is not enabled. | Enable the site in NAVER's console. | | sameCredentials
        2810011 | notFound | The site's FairPlay certificate is not completely registered. | Register the FairPlay certificate for the site in NAVER's console.
        2810012 | notFound | The service finds no DRM data for the request. | Check the token's contentId, and that the content was packaged for the site.
        """)
}
