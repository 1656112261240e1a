public import Foundation
import LatchkeyCore

/// Axinom DRM. Source: `vendors.md` §10.
///
/// The token is a license service message, a JWT that holds the entitlement. `axinom` sends it in the header
/// `X-AxDRM-Message`, `axinom-query` in a query item of that name. A renewal repeats the request with the same token.
extension VendorProfile {
    /// The message travels in a header.
    public static let axinom = VendorProfile(
        identifier: "axinom", name: "Axinom DRM",
        parameters: [
            .setting(
                "certificateURL", "address of the application certificate", required: true,
                example: "https://vtb.axinom.com/FPScert/fairplay.cer"),
            .setting(
                "licenseURL", "address of the license service", required: true,
                example: "https://drm-fairplay-licensing.axprod.net/AcquireLicense"),
            .credential(
                "token", "license service message, a JWT", example: "eyJhbGciOiJIUzI1NiJ9.eyJ2ZXJzaW9uIjoxfQ.AAAA"),
        ],
        contentIdentifier: .remainder,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST", url: URLRule(.setting("licenseURL")),
            headers: [.init("X-AxDRM-Message", .credential("token"))], body: .raw),
        decoder: .raw, errors: ErrorRules(message: [.header("X-AxDRM-ErrorMessage")]), token: .axinom)

    /// The message travels in the query.
    public static let axinomQuery = variant(of: .axinom, "axinom-query", "Axinom DRM (query)") {
        $0.license.headers = []
        $0.license.url = URLRule(
            .setting("licenseURL"), [.setQuery(name: "X-AxDRM-Message", value: .credential("token"))])
    }
}

extension DRMIntegration where Self == VendorProfile {
    /// Axinom DRM with the message in a header.
    /// - Parameters:
    ///   - certificate: the address of the application certificate.
    ///   - license: the address of the license service.
    public static func axinom(certificate: URL, license: URL) -> VendorProfile {
        VendorProfile.axinom.setting("certificateURL", to: certificate.absoluteString)
            .setting("licenseURL", to: license.absoluteString)
    }
}
