import LatchkeyCore

/// DoveRunner, formerly PallyCon. Source: `Documentation/Vendors/DoveRunner.md`.
///
/// The token travels in a header (`doverunner`) or in the license URL (`doverunner-query`). It is good for 600
/// seconds, so give a fresh one each time. The service refuses with status 200 and a JSON document. Its host is
/// `drm-license.doverunner.com`; the older ones, of PallyCon's name, are known too.
extension VendorProfile {
    /// The token in the header `pallycon-customdata-v2`.
    package static let doveRunner = VendorProfile(
        identifier: "doverunner", name: "DoveRunner (PallyCon)",
        parameters: [
            .setting("siteId", "site id, four characters", required: true, example: "DEMO"),
            .certificateURL(
                "address of the certificate: fpsKeyManager.do for base64, fpsCert.do for DER",
                example: "https://drm-license.doverunner.com/ri/fpsCert.do"),
            .licenseURL(example: doveRunnerLicenseURL),
            .token(
                "license token, one for each request; its response_format has to be original",
                example: "eyJkcm1fdHlwZSI6IkZhaXJQbGF5Iiwic2l0ZV9pZCI6IkRFTU8ifQ=="),
        ],
        contentIdentifierRule: .remainder,
        certificate: .fetched(
            RequestRule(
                url: URLRule(
                    .certificateURL, [.addQueryIfAbsent(name: "siteId", value: .setting("siteId"))])),
            .sniff),
        license: RequestRule(
            method: "POST", url: URLRule(.licenseURL),
            headers: [.init(doveRunnerToken, .token)], body: .form([.init("spc", .spc)])),
        decoder: .tagged, renewal: RenewalPolicy(minimumInterval: 300), errors: doveRunnerErrors,
        token: .pallyCon,
        hosts: ["drm-license.doverunner.com", "license-global.pallycon.com", "license.pallycon.com"],
        statedRedaction: Redaction(headers: [doveRunnerToken], queryItems: [doveRunnerToken]),
        settings: [
            SettingName.certificateURL: "https://drm-license.doverunner.com/ri/fpsKeyManager.do",
            SettingName.licenseURL: doveRunnerLicenseURL,
        ],
        evidence: ProfileEvidence(.documented, read: "2026-11-21", "DoveRunner documentation, multi-drm"))

    /// The token in the query of the license URL.
    package static let doveRunnerQuery = variant(of: .doveRunner, "doverunner-query", "DoveRunner (token in the URL)") {
        $0.license = RequestRule(
            method: "POST",
            url: URLRule(.licenseURL, [.setQuery(name: doveRunnerToken, value: .token)]),
            body: .form([.init("spc", .spc)]))
    }

    private static let doveRunnerToken = "pallycon-customdata-v2"
    private static let doveRunnerLicenseURL = "https://drm-license.doverunner.com/ri/licenseManager.do"
    private static let doveRunnerErrors = ErrorRules(
        code: [.json("errorCode")],
        message: [.json("message.MESSAGE"), .json("message")],  // Code 8002 has a JSON document for its message.
        codes: doveRunnerCodes.codes, refusesWithSuccess: true)
}
