public import Foundation

/// Cloud DRM (drm.cloud, Cloud Video Kit) by Insys. Source: `vendors.md` §2.
///
/// Two generations of samples differ in where the license goes: `cloud-drm` to a configured address with `KID` and `IV` taken
/// from the key URI, `cloud-drm-legacy`, as in the AVPlayer document, to the key URI itself.
extension VendorProfile {
    /// The present generation.
    public static let cloudDRM = VendorProfile(
        identifier: "cloud-drm", name: "Cloud DRM",
        parameters: [cloudDRMCertificateURL, cloudDRMBrand, cloudDRMLicenseURL, cloudDRMToken],
        contentIdentifier: .remainder,
        certificate: .fetched(
            RequestRule(
                url: URLRule(
                    .setting("certificateURL"),
                    [
                        .addQueryIfAbsent(name: "brandGuid", value: .setting("brandGuid")),
                        .addQueryIfAbsent(name: "usertoken", value: .credential("token")),
                    ])),
            .sniff),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .firstOf([.setting("licenseURL"), .httpsURI]),
                [
                    .stripQuery, .setQuery(name: "brandGuid", value: .setting("brandGuid")),
                    .copyKeyURIQuery(names: ["KID", "IV"]),
                ]),
            headers: cloudDRMHeaders, body: .raw),
        decoder: .jsonOr(["ckc"], .raw), token: .jwt)

    /// The generation of the AVPlayer document.
    public static let cloudDRMLegacy = variant(of: .cloudDRM, "cloud-drm-legacy", "Cloud DRM (older samples)") {
        $0.parameters = [cloudDRMCertificateURL, cloudDRMBrand, cloudDRMToken]
        $0.certificate = .fetched(
            RequestRule(
                url: URLRule(
                    .setting("certificateURL"), [.addQueryIfAbsent(name: "brandGuid", value: .setting("brandGuid"))])),
            .sniff)
        $0.license = RequestRule(method: "POST", url: URLRule(.httpsURI), headers: cloudDRMHeaders, body: .raw)
    }

    private static let cloudDRMHeaders: [RequestRule.Header] = [
        .init("x-drm-brandGuid", .setting("brandGuid")), .init("x-drm-usertoken", .credential("token")),
    ]
    private static let cloudDRMCertificateURL = Parameter.setting(
        "certificateURL", "address of the application certificate", required: true,
        example: "https://tenant.la.drm.cloud/certificate/fairplay")
    private static let cloudDRMBrand = Parameter.setting(
        "brandGuid", "tenant id in Cloud Video Kit", required: true, example: "00000000-0000-0000-0000-000000000000")
    private static let cloudDRMLicenseURL = Parameter.setting(
        "licenseURL", "address of the license service, where the key URI does not hold it",
        example: "https://tenant.la.drm.cloud/acquire-license/fairplay")
    private static let cloudDRMToken = Parameter.credential(
        "token", "user token, a JWT", example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA")
}

extension DRMIntegration where Self == VendorProfile {
    /// Cloud DRM, present generation.
    /// - Parameters:
    ///   - certificate: the address of the application certificate.
    ///   - brand: the tenant's id in Cloud Video Kit.
    public static func cloudDRM(certificate: URL, brand: String) -> VendorProfile {
        VendorProfile.cloudDRM.setting("certificateURL", to: certificate.absoluteString).setting("brandGuid", to: brand)
    }
}
