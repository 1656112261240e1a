public import Foundation

/// BuyDRM KeyOS. Source: `vendors.md` §11.
///
/// The token is the authentication XML in base64. Clients differ in what names the key: `keyos` takes everything behind
/// `skd://`, `keyos-host` the host, as THEOplayer on the web, and `keyos-ios` what stands behind the last `?`, as THEOplayer
/// on iOS. Older accounts read the token from the header `customdata`: `keyos-customdata`.
extension VendorProfile {
    /// The key is named by everything behind `skd://`.
    public static let keyOS = VendorProfile(
        identifier: "keyos", name: "KeyOS",
        parameters: keyOSAddresses + [
            .setting("header", "header field of the token", example: "x-keyos-authorization"), keyOSToken,
        ],
        contentIdentifier: .remainder,
        certificate: keyOSCertificate(tokenHeader: "{header}"), license: keyOSLicense(tokenHeader: "{header}"),
        decoder: .tagged, errors: ErrorRules(successes: [200, 201]), token: .keyOS,
        settings: ["header": "x-keyos-authorization"])

    /// The token travels in the header `customdata`.
    public static let keyOSCustomData = variant(of: .keyOS, "keyos-customdata", "KeyOS (header customdata)") {
        $0.parameters = keyOSAddresses + [keyOSToken]
        $0.certificate = keyOSCertificate(tokenHeader: "customdata")
        $0.license = keyOSLicense(tokenHeader: "customdata")
        $0.settings = [:]
    }

    /// The key is named by the key URI's host.
    public static let keyOSHost = variant(of: .keyOS, "keyos-host", "KeyOS (host)") {
        $0.contentIdentifierRule = .host
    }

    /// The key is named by what stands behind the last `?`; without one by the whole key URI for the SPC, and by what stands
    /// behind `skd://` in the request.
    public static let keyOSiOS = variant(of: .keyOS, "keyos-ios", "KeyOS (behind the question mark)") {
        $0.contentIdentifierRule = .firstOf([.afterLastQuestionMark, .wholeURI])
        $0.requestContentID = .firstOf([.afterLastQuestionMark, .remainder])
    }

    private static func keyOSCertificate(tokenHeader: String) -> CertificateRule {
        let headers = [RequestRule.Header(tokenHeader, .credential("token"))]
        return .fetched(RequestRule(url: URLRule(.setting("certificateURL")), headers: headers), .der)
    }

    private static func keyOSLicense(tokenHeader: String) -> RequestRule {
        RequestRule(
            method: "POST", url: URLRule(.setting("licenseURL")),
            headers: [.init(tokenHeader, .credential("token"))],
            body: .form([.init("spc", .spc), .init("assetId", .contentID)]))
    }

    private static let keyOSAddresses: [Parameter] = [
        .setting(
            "certificateURL", "address of the application certificate, named by the RSA public key's id",
            required: true,
            example: "https://fp-keyos.licensekeyserver.com/cert/00000000000000000000000000000000.der"),
        .setting(
            "licenseURL", "address of the license service", required: true,
            example: "https://fp-keyos.licensekeyserver.com/getkey"),
    ]
    private static let keyOSToken = Parameter.credential(
        "token", "authentication XML in base64", example: "PEtleU9TQXV0aGVudGljYXRpb25YTUwvPg==")
}

extension DRMIntegration where Self == VendorProfile {
    /// KeyOS.
    /// - Parameters:
    ///   - certificate: the address of the application certificate.
    ///   - license: the address of the license service.
    public static func keyOS(certificate: URL, license: URL) -> VendorProfile {
        VendorProfile.keyOS.setting("certificateURL", to: certificate.absoluteString)
            .setting("licenseURL", to: license.absoluteString)
    }
}
