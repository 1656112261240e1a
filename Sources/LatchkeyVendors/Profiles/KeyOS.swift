/// BuyDRM KeyOS. Source: `Documentation/Vendors/KeyOS.md`.
///
/// The token is the authentication XML in base64. Clients differ in the key's name: `keyos` uses everything after `skd://`,
/// `keyos-host` the host, as THEOplayer on the web, and `keyos-ios` the text after the last `?`, as THEOplayer on iOS. Older accounts
/// read the token from the header `customdata`: `keyos-customdata`.
extension VendorProfile {
    /// Everything after `skd://` names the key.
    package static let keyOS = VendorProfile(
        identifier: "keyos", name: "KeyOS",
        parameters: keyOSAddresses + [
            .setting("header", "header field of the token", example: "x-keyos-authorization"), keyOSToken,
        ],
        contentIdentifierRule: .remainder,
        certificate: keyOSCertificate(tokenHeader: "{header}"), license: keyOSLicense(tokenHeader: "{header}"),
        decoder: .tagged, errors: ErrorRules(successes: [200, 201]), token: .keyOS,
        settings: ["header": "x-keyos-authorization"],
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "THEOplayer/react-native-theoplayer-drm"))

    /// The token is in the header `customdata`.
    package static let keyOSCustomData = variant(of: .keyOS, "keyos-customdata", "KeyOS (header customdata)") {
        $0.parameters = keyOSAddresses + [keyOSToken]
        $0.certificate = keyOSCertificate(tokenHeader: "customdata")
        $0.license = keyOSLicense(tokenHeader: "customdata")
        $0.settings = [:]
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "a customized Brightcove sample")
    }

    /// The key URI's host names the key.
    package static let keyOSHost = variant(of: .keyOS, "keyos-host", "KeyOS (host)") {
        $0.contentIdentifierRule = .host
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "THEOplayer/samples-drm-integration, web")
    }

    /// The text after the last `?` names the key. Without one, the SPC names it by the whole key URI, and the request by the text after
    /// `skd://`.
    public static let keyOSiOS = variant(of: .keyOS, "keyos-ios", "KeyOS (behind the question mark)") {
        $0.contentIdentifierRule = .firstOf([.afterLastQuestionMark, .wholeURI])
        $0.requestContentID = .firstOf([.afterLastQuestionMark, .remainder])
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "THEOplayer/samples-drm-integration, ios")
    }

    private static func keyOSCertificate(tokenHeader: String) -> CertificateRule {
        let headers = [RequestRule.Header(tokenHeader, .token)]
        return .fetched(RequestRule(url: URLRule(.certificateURL), headers: headers), .der)
    }

    private static func keyOSLicense(tokenHeader: String) -> RequestRule {
        RequestRule(
            method: "POST", url: URLRule(.licenseURL),
            headers: [.init(tokenHeader, .token)],
            body: .form([.init("spc", .spc), .init("assetId", .contentID)]))
    }

    private static let keyOSAddresses: [Parameter] = [
        .certificateURL(
            "address of the application certificate, named by the RSA public key's id",
            required: true,
            example: "https://fp-keyos.licensekeyserver.com/cert/00000000000000000000000000000000.der"),
        .licenseURL(
            required: true,
            example: "https://fp-keyos.licensekeyserver.com/getkey"),
    ]
    private static let keyOSToken = Parameter.token(
        "authentication XML in base64", example: "PEtleU9TQXV0aGVudGljYXRpb25YTUwvPg=="
    ).known(as: "x-keyos-authorization")
}
