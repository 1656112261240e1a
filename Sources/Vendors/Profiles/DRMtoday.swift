public import Foundation
import LatchkeyCore

/// DRMtoday by castLabs. Source: `vendors.md` §12.
///
/// Either an upfront token or custom data about the viewer authorizes, never both: `drmtoday` sends the token, as the vendor's
/// demo, `drmtoday-customdata` the custom data. With both the SPC is made for the whole key URI, so the body is the SPC alone;
/// asset parameters in the body override what the SPC says, and break content with several keys. `drmtoday-query` is for
/// players that make the SPC for another text, as Bitmovin's: its body repeats the key URI's query. A key that is to be stored
/// is asked for with `offline`.
extension VendorProfile {
    /// The token authorizes.
    public static let drmToday = VendorProfile(
        identifier: "drmtoday", name: "DRMtoday",
        parameters: drmTodayAddresses + [
            .credential(
                "token", "upfront token, a JWT that opens one license",
                example: "eyJhbGciOiJIUzUxMiJ9.eyJqdGkiOiIxIn0.AAAA")
        ],
        contentIdentifier: .wholeURI,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .setting("licenseURL"), [.setQuery(name: "offline", value: .onlyFor(.persistable, "true"))]),
            headers: [.init("x-dt-auth-token", .credential("token"))],
            body: .form([.init("spc", .spc), .init("offline", .onlyFor(.persistable, "true"))])),
        decoder: .tagged, errors: drmTodayErrors, token: .drmToday, redaction: Redaction(headers: ["x-dt-custom-data"]))

    /// The custom data authorizes.
    public static let drmTodayCustomData = variant(
        of: .drmToday, "drmtoday-customdata", "DRMtoday (custom data)"
    ) {
        $0.parameters =
            drmTodayAddresses + [
                .setting("merchant", "merchant's name at DRMtoday", required: true, example: "merchant"),
                .setting("userId", "viewer's id", required: true, example: "viewer-1"),
                .setting("sessionId", "viewer's session", required: true, example: "session-1"),
            ]
        $0.license.headers = [
            .init(
                "x-dt-custom-data",
                .base64(
                    .json([
                        "userId": .rule(.setting("userId")), "sessionId": .rule(.setting("sessionId")),
                        "merchant": .rule(.setting("merchant")),
                    ])))
        ]
        $0.token = .opaque
    }

    /// The custom data authorizes, and the body names the key by the key URI's query.
    public static let drmTodayQuery = variant(of: .drmTodayCustomData, "drmtoday-query", "DRMtoday (asset in the body)")
    {
        $0.contentIdentifierRule = .afterFirstQuestionMark
        $0.license.body = .formWithKeyURIQuery([.init("spc", .spc)])
    }

    /// The codes of the header `x-dt-resp-code`.
    private static let drmTodayErrors = ErrorRules(
        code: [.header("x-dt-resp-code")], message: [.header("x-dt-error-message")],
        kinds: ErrorRules.kinds([
            .serverTransient: ["1000"], .unauthenticated: ["3000"],
            .invalidRequest: ["2000", "10001", "30000", "43000", "60001"],
            .forbidden: ["20101", "70001", "80001"], .concurrencyLimit: ["60100"], .regionDenied: ["90001"],
        ]))
    private static let drmTodayAddresses: [Parameter] = [
        .setting(
            "certificateURL", "address of the application certificate, which ends in the merchant's name",
            required: true, example: "https://lic.drmtoday.com/license-server-fairplay/cert/merchant"),
        .setting(
            "licenseURL", "address of the license service", required: true,
            example: "https://lic.drmtoday.com/license-server-fairplay/"),
    ]
}

extension DRMIntegration where Self == VendorProfile {
    /// DRMtoday with an upfront token.
    /// - Parameters:
    ///   - certificate: the address of the application certificate.
    ///   - license: the address of the license service.
    public static func drmToday(certificate: URL, license: URL) -> VendorProfile {
        VendorProfile.drmToday.setting("certificateURL", to: certificate.absoluteString)
            .setting("licenseURL", to: license.absoluteString)
    }
}
