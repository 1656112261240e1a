import LatchkeyCore

/// Axinom DRM. Source: `Documentation/Vendors/Axinom.md`.
///
/// The token is a license service message, a JWT that contains the entitlement. `axinom` sends it in the header
/// `X-AxDRM-Message`, `axinom-query` in a query item of that name. A renewal repeats the request with the same token.
extension VendorProfile {
    /// The message is in a header.
    package static let axinom = VendorProfile(
        identifier: "axinom", name: "Axinom DRM",
        parameters: [
            .certificateURL(
                required: true,
                example: "https://vtb.axinom.com/FPScert/fairplay.cer"),
            .licenseURL(
                required: true,
                example: "https://drm-fairplay-licensing.axprod.net/AcquireLicense"),
            .token("license service message, a JWT", example: "eyJhbGciOiJIUzI1NiJ9.eyJ2ZXJzaW9uIjoxfQ.AAAA"),
        ],
        contentIdentifierRule: .remainder,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST", url: URLRule(.licenseURL),
            headers: [.init("X-AxDRM-Message", .token)], body: .raw),
        decoder: .raw,
        errors: ErrorRules(
            code: [.header("X-AxDRM-ErrorCode")], message: [.header("X-AxDRM-ErrorMessage")],
            codes: axinomCodes.codes),
        token: .axinom,
        evidence: ProfileEvidence(.documented, read: "2026-11-21", "docs.axinom.com, drm/license-service/fairplay"))

    /// The meanings of the known code and the statuses. Source: `Documentation/Vendors/Axinom.md`, errors.
    static let axinomCodes = CodeTable(
        """
        1 | concurrencyLimit | The account plays as many streams as its license service messages allow. | | 403
        400 | invalidRequest | The request, or its license service message, is not valid. | Compare SPC and license service message with Axinom's page.
        403 | forbidden | The request is valid, and the license is denied. | Look at the dates, keys and usage policies of the license service message.
        500 | serverTransient | The license service failed inside.
        """)

    /// The message is in the query.
    package static let axinomQuery = variant(of: .axinom, "axinom-query", "Axinom DRM (query)") {
        $0.license.headers = []
        $0.license.url = URLRule(
            .licenseURL, [.setQuery(name: "X-AxDRM-Message", value: .token)])
    }
}
