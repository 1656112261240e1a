import LatchkeyCore

/// DRMtoday by castLabs. Source: `Documentation/Vendors/DRMtoday.md`.
///
/// `drmtoday` sends an upfront token, as the vendor's demo; `drmtoday-customdata` sends custom data about the viewer and, if the app gives
/// one, a token, as React Native clients. The certificate request carries the same: if its address does not end with the merchant's
/// name, they say whose certificate it is. With both profiles the SPC is made for the whole key URI, so the body is only the SPC: asset
/// parameters in the body would override the SPC and break content with several keys. `drmtoday-query` is for players that make the SPC
/// for another text, such as Bitmovin's: its body repeats the key URI's query. Requests for keys that are stored carry `offline`.
extension VendorProfile {
    /// The token authorizes.
    package static let drmToday = VendorProfile(
        identifier: "drmtoday", name: "DRMtoday",
        parameters: drmTodayAddresses + [
            .token(
                "upfront token, a JWT that opens one license",
                example: "eyJhbGciOiJIUzUxMiJ9.eyJqdGkiOiIxIn0.AAAA")
        ],
        contentIdentifierRule: .wholeURI,
        certificate: drmTodayCertificate([drmTodayToken]),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .licenseURL, [.setQuery(name: "offline", value: .onlyFor(.persistable, "true"))]),
            headers: [drmTodayToken],
            body: .form([.init("spc", .spc), .init("offline", .onlyFor(.persistable, "true"))])),
        decoder: .tagged, errors: drmTodayErrors, token: .drmToday,
        statedRedaction: Redaction(headers: ["x-dt-custom-data"]),
        settings: drmTodayProduction,
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-22", "castlabs/drmtoday-avplayer-demo"))

    /// The custom data authorizes.
    package static let drmTodayCustomData = variant(
        of: .drmToday, "drmtoday-customdata", "DRMtoday (custom data)"
    ) {
        $0.parameters =
            drmTodayAddresses + [
                .setting("merchant", "merchant's name at DRMtoday", required: true, example: "merchant"),
                .setting("userId", "viewer's id", required: true, example: "viewer-1"),
                .setting("sessionId", "viewer's session", required: true, example: "session-1"),
                .token(
                    "upfront token, a JWT, where the service wants both", required: false,
                    example: "eyJhbGciOiJIUzUxMiJ9.eyJqdGkiOiIxIn0.AAAA"),
            ]
        $0.certificate = drmTodayCertificate([drmTodayCustomDataHeader, drmTodayToken])
        $0.license.headers = [drmTodayCustomDataHeader, drmTodayToken]
        $0.evidence = ProfileEvidence(
            .sampleRead, read: "2026-11-22", "castlabs/drmtoday-avplayer-demo, THEOplayer/react-native-theoplayer-drm")
    }

    /// The custom data authorizes, and the body names the key by the key URI's query.
    package static let drmTodayQuery = variant(
        of: .drmTodayCustomData, "drmtoday-query", "DRMtoday (asset in the body)"
    ) {
        $0.contentIdentifierRule = .afterFirstQuestionMark
        $0.license.body = .formWithKeyURIQuery([.init("spc", .spc)])
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "Bitmovin's offline integration")
    }

    private static func drmTodayCertificate(_ headers: [RequestRule.Header]) -> CertificateRule {
        .fetched(RequestRule(url: URLRule(.certificateURL), headers: headers), .der)
    }

    private static let drmTodayToken = RequestRule.Header("x-dt-auth-token", .token)
    private static let drmTodayCustomDataHeader = RequestRule.Header(
        "x-dt-custom-data",
        .base64(
            .json([
                "userId": .rule(.setting("userId")), "sessionId": .rule(.setting("sessionId")),
                "merchant": .rule(.setting("merchant")),
            ])))
    private static let drmTodayProduction = [
        SettingName.certificateURL: "https://lic.drmtoday.com/license-server-fairplay/cert/",
        SettingName.licenseURL: "https://lic.drmtoday.com/license-server-fairplay/",
    ]

    private static let drmTodayErrors = ErrorRules(
        code: [.header("x-dt-resp-code")], message: [.header("x-dt-error-message")], codes: drmTodayCodes.codes)
    private static let drmTodayAddresses: [Parameter] = [
        .certificateURL(
            "address of the application certificate, with or without the merchant's name at its end",
            example: "https://lic.drmtoday.com/license-server-fairplay/cert/merchant"),
        .licenseURL(example: "https://lic.drmtoday.com/license-server-fairplay/"),
    ]
}
