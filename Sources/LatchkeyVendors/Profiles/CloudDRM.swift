import LatchkeyCore

/// Cloud DRM (drm.cloud, Cloud Video Kit) by Insys. Source: `Documentation/Vendors/CloudDRM.md`.
///
/// Two generations of samples send the license request to different addresses: `cloud-drm` to a configured one with `KID` and `IV` of
/// the key URI, `cloud-drm-legacy`, as in the AVPlayer document, to the key URI itself.
///
/// The certificate request does not carry the viewer's token, because it would appear in the log of a CDN. Use
/// `cloud-drm-certificate-token` for a tenant whose certificate needs it. `cloud-drm-legacy` does not change the certificate's address,
/// so that a signed one stays valid.
///
/// A key URI names the license service's host, which differs from the certificate's host at some tenants. The loader refuses such a host
/// until the app allows it: give the license address, or allow the host in the loader's `HostPolicy`.
extension VendorProfile {
    /// The current generation.
    package static let cloudDRM = VendorProfile(
        identifier: "cloud-drm", name: "Cloud DRM",
        parameters: [cloudDRMCertificateURL, cloudDRMBrand, cloudDRMLicenseURL, cloudDRMToken],
        contentIdentifierRule: .remainder,
        certificate: .fetched(
            RequestRule(
                url: URLRule(
                    .certificateURL, [.addQueryIfAbsent(name: "brandGuid", value: .setting("brandGuid"))])),
            .sniff),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .firstOf([.licenseURL, .httpsURI]),
                [
                    .stripQuery, .setQuery(name: "brandGuid", value: .setting("brandGuid")),
                    .copyKeyURIQuery(names: ["KID", "IV"]),
                ]),
            headers: cloudDRMHeaders, body: .raw),
        decoder: .jsonOr(["ckc"], .raw), errors: cloudDRMErrors, token: .jwt,
        evidence: ProfileEvidence(.documented, read: "2026-11-21", "developers.drm.cloud, licence-acquisition"))

    /// The current generation, with the viewer's token in the certificate's address.
    package static let cloudDRMCertificateToken = variant(
        of: .cloudDRM, "cloud-drm-certificate-token", "Cloud DRM (certificate with token)"
    ) {
        $0.certificate = .fetched(
            RequestRule(
                url: URLRule(
                    .certificateURL,
                    [
                        .addQueryIfAbsent(name: "brandGuid", value: .setting("brandGuid")),
                        .addQueryIfAbsent(name: "usertoken", value: .token),
                    ])),
            .sniff)
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "the vendor's newer AVPlayer sample")
    }

    /// The generation of the AVPlayer document.
    package static let cloudDRMLegacy = variant(of: .cloudDRM, "cloud-drm-legacy", "Cloud DRM (older samples)") {
        $0.parameters = [cloudDRMCertificateURL, cloudDRMBrand, cloudDRMToken]
        $0.certificate = .fetched(.sniff)
        $0.license = RequestRule(method: "POST", url: URLRule(.httpsURI), headers: cloudDRMHeaders, body: .raw)
        $0.evidence = ProfileEvidence(.documented, read: "2026-11-22", "AVPlayer with Cloud DRM in Swift")
    }

    private static let cloudDRMErrors = ErrorRules(
        code: [.json("code")], message: [.json("message")], codes: cloudDRMCodes.codes)

    private static let cloudDRMHeaders: [RequestRule.Header] = [
        .init("x-drm-brandGuid", .setting("brandGuid")), .init("x-drm-usertoken", .token),
    ]
    private static let cloudDRMCertificateURL = Parameter.certificateURL(
        required: true,
        example: "https://tenant.la.drm.cloud/certificate/fairplay")
    private static let cloudDRMBrand = Parameter.setting(
        "brandGuid", "tenant id in Cloud Video Kit", required: true, example: "00000000-0000-0000-0000-000000000000")
    private static let cloudDRMLicenseURL = Parameter.licenseURL(
        "address of the license service, where the key URI does not hold it",
        example: "https://tenant.la.drm.cloud/acquire-license/fairplay")
    private static let cloudDRMToken = Parameter.token(
        "user token, a JWT", example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA")
}
