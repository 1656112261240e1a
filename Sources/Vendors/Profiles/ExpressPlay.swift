public import Foundation
import LatchkeyCore

/// ExpressPlay by Intertrust, also sold as Adobe Primetime Cloud DRM. Source: `vendors.md` §8.
///
/// The license URL is a token URL: `expressplay` finds it in the key URI, `expressplay-entitlement` asks an entitlement server
/// for it, and `expressplay-onpremise` is configured with the address of a server of the customer's own. The application
/// certificate ships with the app; an address may be given instead.
extension VendorProfile {
    /// The key URI is the token URL with `skd` as its scheme.
    public static let expressPlay = VendorProfile(
        identifier: "expressplay", name: "ExpressPlay (token URL)", parameters: expressPlayCertificateSettings,
        contentIdentifier: .host, certificate: .inlineOrFetched(.der),
        license: RequestRule(method: "POST", url: URLRule(.httpsURI), body: .raw), decoder: .raw,
        errors: expressPlayErrors,
        // The samples' URLs say port 80 and https.
        hosts: [
            "fp.service.expressplay.com", "fp.service.expressplay.com:80", "fp.test.expressplay.com",
            "fp.test.expressplay.com:80",
        ],
        redaction: Redaction(queryItems: ["ExpressPlayToken"]))

    /// An entitlement server says yes or no and, with a yes, the token URL. The key URI holds the content id as `cid`.
    public static let expressPlayEntitlement = variant(
        of: .expressPlay, "expressplay-entitlement", "ExpressPlay (entitlement server)"
    ) {
        $0.parameters =
            expressPlayCertificateSettings + [
                .setting(
                    "entitlementURL", "address of the entitlement server, where the key URI does not hold it",
                    example: "https://entitlement.example/sees/SEESServlet"),
                .setting(
                    "customerCookie", "what the entitlement server knows the viewer by, 32 characters at most",
                    example: "viewer-1"),
            ]
        $0.contentIdentifierRule = .firstOf([.query("cid"), .remainder])
        $0.lookup = LookupRule(
            .key,
            request: RequestRule(
                method: "POST", url: URLRule(.firstOf([.setting("entitlementURL"), .httpsURI])),
                headers: [.init("Accept", "application/json")],
                body: .json([
                    "messageID": .rule(.messageID), "version": 1, "contentID": .rule(.contentID),
                    "customerCookie": .rule(.setting("customerCookie")),
                ])),
            values: ["tokenURL": "epTokenURL"], allowedBy: ["isAllowed"],
            echoes: ["messageID": .messageID, "version": "1"],
            errors: ErrorRules(code: [.json("error")], message: [.json("errorText")]))
        $0.license.url = URLRule(.lookup("tokenURL"))
        $0.hosts = []
    }

    /// A FairPlay server of the customer's own.
    public static let expressPlayOnPremise = variant(
        of: .expressPlay, "expressplay-onpremise", "ExpressPlay (on-premise server)"
    ) {
        $0.parameters =
            expressPlayCertificateSettings + [
                .setting(
                    "licenseURL", "address of the FairPlay server, where the key URI does not hold it",
                    example: "https://fairplay.example/license"),
                .setting("contentId", "content id for the SPC, where the key URI's host is none", example: "movie-1"),
            ]
        $0.contentIdentifierRule = .firstOf([.setting("contentId"), .query("cid"), .host])
        $0.license.url = URLRule(.firstOf([.setting("licenseURL"), .httpsURI]))
        $0.hosts = []
    }

    private static let expressPlayCertificateSettings: [Parameter] = [
        .setting(
            "certificate", "application certificate in base64; without it certificateURL is asked", example: "MIIB"),
        .setting(
            "certificateURL", "address of the application certificate", example: "https://cdn.example/fairplay.cer"),
    ]

    /// ExpressPlay's own codes. They come in a page or in JSON whose form is not published, so they are looked for anywhere.
    private static let expressPlayErrors = ErrorRules(
        code: [.knownCode],
        kinds: ErrorRules.kinds([
            .unauthenticated: ["-2017", "-2018", "-4010"],
            .forbidden: ["-2019", "-2031", "-4001", "-6006", "-6009"],
            .invalidRequest: [
                "-2002", "-2003", "-2005", "-2020", "-2021", "-2022", "-2023", "-2024", "-2025", "-2027", "-2033",
                "-2036", "-2037", "-3004", "-4018", "-4019", "-4020", "-4021", "-4022", "-4024", "-5003", "-6001",
                "-6002", "-6003", "-6005", "-6007", "-6008",
            ],
            .serverTransient: ["-6004"],
        ]))
}

extension DRMIntegration where Self == VendorProfile {
    /// ExpressPlay with token URLs as key URIs.
    /// - Parameter certificate: the application certificate, DER, as the app ships it.
    public static func expressPlay(certificate: Data) -> VendorProfile {
        VendorProfile.expressPlay.setting("certificate", to: certificate.base64EncodedString())
    }

    /// ExpressPlay with an entitlement server.
    /// - Parameters:
    ///   - certificate: the application certificate, DER, as the app ships it.
    ///   - entitlement: the address of the entitlement server.
    public static func expressPlay(certificate: Data, entitlement: URL) -> VendorProfile {
        VendorProfile.expressPlayEntitlement.setting("certificate", to: certificate.base64EncodedString())
            .setting("entitlementURL", to: entitlement.absoluteString)
    }

    /// ExpressPlay with a license server of the customer's own.
    /// - Parameters:
    ///   - certificate: the application certificate, DER, as the app ships it.
    ///   - onPremise: the address of the license server.
    public static func expressPlay(certificate: Data, onPremise: URL) -> VendorProfile {
        VendorProfile.expressPlayOnPremise.setting("certificate", to: certificate.base64EncodedString())
            .setting("licenseURL", to: onPremise.absoluteString)
    }
}
