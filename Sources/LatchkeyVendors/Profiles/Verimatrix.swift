import LatchkeyCore

/// Verimatrix Core and Streamkeeper Multi-DRM. Source: `Documentation/Vendors/Verimatrix.md`.
///
/// The token is a JWT without the word `Bearer`: `verimatrix` sends it in the header `Authorization`, `verimatrix-query` in the
/// query item of that name, as THEOplayer on iOS. `verimatrix-legacy` is for servers that Verimatrix's customers run.
/// Only the token states the lease, in seconds at `policy.fairplay.lease_duration`. State it in the setting `leaseDuration`.
extension VendorProfile {
    /// The token is in a header.
    package static let verimatrix = VendorProfile(
        identifier: "verimatrix", name: "Verimatrix Core",
        parameters: [
            verimatrixCertificateURL, verimatrixLicenseURL,
            .setting("leaseDuration", "lease that the token's policy states, in seconds", example: "600"),
            .token(
                "JWT whose subject is the content id",
                example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
        ],
        contentIdentifierRule: .remainderBeforeQuery,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST", url: URLRule(.licenseURL),
            headers: [.init("Authorization", .token)], body: .json(["spc": .rule(.spc)])),
        decoder: .json(["ckc"]), terms: TermsRule(lease: .setting("leaseDuration")), errors: verimatrixErrors,
        token: .verimatrix,
        evidence: ProfileEvidence(.documented, read: "2026-11-21", "docs.verimatrix.com, drm-specific-integration"))

    /// The token is in the query.
    public static let verimatrixQuery = variant(of: .verimatrix, "verimatrix-query", "Verimatrix Core (query)") {
        $0.parameters = $0.parameters.map { $0.name == CredentialSet.tokenName ? $0.known(as: "authorization") : $0 }
        $0.license.headers = []
        $0.license.url = URLRule(
            .licenseURL, [.setQuery(name: "Authorization", value: .token)])
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-22", "THEOplayer/samples-drm-integration, ios")
    }

    /// The customer's own server: the SPC in the URL-safe alphabet, not encoded again, in a form; no token.
    package static let verimatrixLegacy = VendorProfile(
        identifier: "verimatrix-legacy", name: "Verimatrix (own server)",
        parameters: [verimatrixCertificateURL, verimatrixLicenseURL], contentIdentifierRule: .remainder,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST", url: URLRule(.licenseURL),
            body: .form([.init("spc", .spcURLSafe, escaping: .none)])),
        decoder: .tolerant,
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "shaka-player, lib/drm/fairplay.js"))

    /// The error document's form is not published, so the rules search for the codes anywhere.
    private static let verimatrixErrors = ErrorRules(
        code: [.word("MDRM-")], message: [.json("message")], codes: verimatrixCodes.codes)
    private static let verimatrixCertificateURL = Parameter.certificateURL(
        required: true,
        example: "https://cdn.example/fairplay.cer")
    private static let verimatrixLicenseURL = Parameter.licenseURL(
        required: true,
        example: "https://multidrm.vsaas.verimatrixcloud.net/fairplay")
}
