public import Foundation

/// Verimatrix Core and Streamkeeper Multi-DRM. Source: `vendors.md` §6.
///
/// The token is a JWT without the word `Bearer`: `verimatrix` sends it in the header `Authorization`, `verimatrix-query` in the
/// query item of that name, as THEOplayer on iOS. Servers that Verimatrix's customers run themselves are `verimatrix-legacy`.
/// A lease is stated in the token alone, in seconds at `policy.fairplay.lease_duration`; say it in the setting `leaseDuration`.
extension VendorProfile {
    /// The token travels in a header.
    public static let verimatrix = VendorProfile(
        identifier: "verimatrix", name: "Verimatrix Core",
        parameters: [
            verimatrixCertificateURL, verimatrixLicenseURL,
            .setting("leaseDuration", "lease that the token's policy states, in seconds", example: "600"),
            .credential(
                "token", "JWT whose subject is the content id",
                example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
        ],
        contentIdentifier: .remainderBeforeQuery,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST", url: URLRule(.setting("licenseURL")),
            headers: [.init("Authorization", .credential("token"))], body: .json(["spc": .rule(.spc)])),
        decoder: .json(["ckc"]), terms: TermsRule(lease: .setting("leaseDuration")), errors: verimatrixErrors,
        token: .verimatrix)

    /// The token travels in the query.
    public static let verimatrixQuery = variant(of: .verimatrix, "verimatrix-query", "Verimatrix Core (query)") {
        $0.license.headers = []
        $0.license.url = URLRule(
            .setting("licenseURL"), [.setQuery(name: "Authorization", value: .credential("token"))])
    }

    /// A server of the customer's own: the SPC in the URL-safe alphabet, as it is, in a form; no token.
    public static let verimatrixLegacy = VendorProfile(
        identifier: "verimatrix-legacy", name: "Verimatrix (own server)",
        parameters: [verimatrixCertificateURL, verimatrixLicenseURL], contentIdentifier: .remainder,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST", url: URLRule(.setting("licenseURL")),
            body: .form([.init("spc", .spcURLSafe, escaping: .none)])),
        decoder: .tolerant)

    /// The codes of Verimatrix's own list; the error document's form is not published, so they are looked for anywhere.
    private static let verimatrixErrors = ErrorRules(
        code: [.word("MDRM-")], message: [.json("message")],
        kinds: ErrorRules.kinds([
            .unauthenticated: ["MDRM-1001", "MDRM-1002"],
            .notFound: ["MDRM-1003", "MDRM-1005", "MDRM-1011"],
            .invalidRequest: ["MDRM-1004", "MDRM-1006", "MDRM-1007", "MDRM-1008", "MDRM-1013", "MDRM-1014"],
            .serverTransient: ["MDRM-1000", "MDRM-1009", "MDRM-1010", "MDRM-1012", "MDRM-1015"],
        ]))
    private static let verimatrixCertificateURL = Parameter.setting(
        "certificateURL", "address of the application certificate", required: true,
        example: "https://cdn.example/fairplay.cer")
    private static let verimatrixLicenseURL = Parameter.setting(
        "licenseURL", "address of the license service", required: true,
        example: "https://multidrm.vsaas.verimatrixcloud.net/fairplay")
}

extension DRMIntegration where Self == VendorProfile {
    /// Verimatrix Core with the token in a header.
    /// - Parameters:
    ///   - certificate: the address of the application certificate.
    ///   - license: the address of the license service.
    public static func verimatrix(certificate: URL, license: URL) -> VendorProfile {
        VendorProfile.verimatrix.setting("certificateURL", to: certificate.absoluteString)
            .setting("licenseURL", to: license.absoluteString)
    }
}
