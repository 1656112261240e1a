import LatchkeyCore

/// ExpressPlay by Intertrust, also sold as Adobe Primetime Cloud DRM. Source: `Documentation/Vendors/ExpressPlay.md`.
///
/// The license URL is a token URL: `expressplay` finds it in the key URI, `expressplay-entitlement` asks an entitlement server
/// for it, `expressplay-token-server` an address of the app's own, and `expressplay-onpremise` is configured with the address of a server of the customer's own. The application
/// certificate ships with the app; an address may be given instead.
///
/// For a first test, `expressplay` takes a token URL in the setting `tokenURL`, which replaces the key URI's. The app chooses the
/// content id: the setting `contentId`, or else the host of the key URI.
///
/// The TVSDK document names `fp-gen.service.expressplay.com` as the host of license requests. That host makes tokens, only for the
/// customer's server and with the customer's authenticator, which must not be in an app. Licenses come from the token URL's host,
/// `fp.service.expressplay.com`, and the profiles know only that one.
extension VendorProfile {
    /// The key URI is the token URL with `skd` as its scheme.
    package static let expressPlay = VendorProfile(
        identifier: "expressplay", name: "ExpressPlay (token URL)",
        parameters: expressPlayCertificateSettings + [
            .setting(
                "tokenURL", "token URL, for a test; the key URI's unless given",
                example: "https://fp.service.expressplay.com/hms/fp/rights/?ExpressPlayToken=AAAA"),
            expressPlayContentID,
        ],
        contentIdentifierRule: .firstOf([.setting("contentId"), expressPlayHost]),
        certificate: .inlineOrFetched(.der),
        license: RequestRule(method: "POST", url: URLRule(.firstOf([.setting("tokenURL"), .httpsURI])), body: .raw),
        decoder: .preferring(.raw), errors: expressPlayErrors,
        // The samples' URLs say port 80 and https.
        hosts: [
            "fp.service.expressplay.com", "fp.service.expressplay.com:80", "fp.test.expressplay.com",
            "fp.test.expressplay.com:80",
        ],
        statedRedaction: Redaction(queryItems: ["ExpressPlayToken"]),
        evidence: ProfileEvidence(.documented, read: "2026-11-22", "Apple FairPlay in TVSDK applications (AdobeDocs)"))

    /// An entitlement server decides and gives the token URL. The key URI has the content id as `cid`.
    ///
    /// To bind licenses to a device, play once with the setting `requestType` 2, which registers the device for the
    /// `customerCookie`, and then with 3, whose tokens are valid only on that device.
    package static let expressPlayEntitlement = variant(
        of: .expressPlay, "expressplay-entitlement", "ExpressPlay (entitlement server)"
    ) {
        $0.parameters =
            expressPlayCertificateSettings + [
                .setting(
                    "entitlementURL", "address of the entitlement server, where the key URI does not hold it",
                    example: "https://entitlement.example/sees/SEESServlet"),
                .setting(
                    "requestType",
                    "kind of token: 1 time-based, 2 registers the device that plays, 3 bound to the registered device",
                    example: "1"
                ).limited(to: ["1", "2", "3"]),
                .setting(
                    "customerCookie",
                    "the viewer's id at the entitlement server, at most 32 characters; types 2 and 3 need it",
                    example: "viewer-1"
                ).limited(to: 32).needed(if: "requestType", is: ["2", "3"]),
                expressPlayContentID,
            ]
        $0.contentIdentifierRule = .firstOf([.setting("contentId"), .query("cid"), .remainder])
        $0.lookup = LookupRule(
            .key,
            request: RequestRule(
                method: "POST", url: URLRule(.firstOf([.setting("entitlementURL"), .httpsURI])),
                headers: [.init("Accept", "application/json")],
                body: .json([
                    "messageID": .rule(.messageID), "version": 1, "contentID": .rule(.contentID),
                    "requestType": .wholeNumber(.setting("requestType")),
                    "customerCookie": .rule(.setting("customerCookie")),
                ])),
            values: ["tokenURL": "epTokenURL"], allowedBy: ["isAllowed"],
            echoes: ["messageID": .messageID, "version": "1"],
            errors: ErrorRules(
                code: [.json("error")], message: [.json("errorText")], requestIDInBody: ["messageID"],
                codes: expressPlayCodes.codes))
        $0.license.url = URLRule(.lookup("tokenURL"))
        $0.hosts = []
        $0.evidence = ProfileEvidence(.documented, read: "2026-11-21", "AdobeDocs/primetime.en, SEES reference server")
    }

    /// A server of the app's own gives a token URL for each key: as `text/uri-list`, like ExpressPlay's token service, or as JSON with
    /// the member `url`. The key URI says nothing about the server.
    package static let expressPlayTokenServer = variant(
        of: .expressPlay, "expressplay-token-server", "ExpressPlay (the app's token server)"
    ) {
        $0.parameters =
            expressPlayCertificateSettings + [
                .setting(
                    "tokenServerURL", "where the app's server gives token URLs; gets the content id as contentId",
                    required: true, example: "https://api.example/playback/token-url?title=42"),
                expressPlayContentID,
                .token(
                    "the viewer's bearer token for the app's server", required: false,
                    example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
            ]
        $0.contentIdentifierRule = .firstOf([.setting("contentId"), .query("cid"), expressPlayHost])
        $0.lookup = LookupRule(
            .key,
            request: RequestRule(
                url: URLRule(.setting("tokenServerURL"), [.addQueryIfAbsent(name: "contentId", value: .contentID)]),
                headers: [.init("Accept", "text/uri-list, application/json"), .bearer]),
            values: ["tokenURL": "url"], uriList: "tokenURL")
        $0.license.url = URLRule(.lookup("tokenURL"))
        $0.evidence = ProfileEvidence(
            .documented, read: "2026-11-27",
            "FairPlay license token request (AdobeDocs), react-native-video 2364 and 2367")
    }

    /// The customer's own FairPlay server.
    package static let expressPlayOnPremise = variant(
        of: .expressPlay, "expressplay-onpremise", "ExpressPlay (on-premise server)"
    ) {
        $0.parameters =
            expressPlayCertificateSettings + [
                .licenseURL(
                    "address of the FairPlay server, where the key URI does not hold it",
                    example: "https://fairplay.example/license"),
                expressPlayContentID,
            ]
        $0.contentIdentifierRule = .firstOf([.setting("contentId"), .query("cid"), expressPlayHost])
        $0.license.url = URLRule(.firstOf([.licenseURL, .httpsURI]))
        $0.hosts = []
    }

    private static let expressPlayHost = TextRule.from(.httpsURI, take: .hostName)
    private static let expressPlayContentID = Parameter.setting(
        "contentId", "content id, where the key URI does not hold it", example: "movie-1")
    /// How the tokens of an entitlement server are bound to devices. The raw values are the request's.
    ///
    /// Source: `Documentation/Vendors/ExpressPlay.md`, entitlement request.
    public enum ExpressPlayBinding: Int, Sendable, Hashable, CaseIterable {
        /// The token is valid for a time, on any device.
        case timeBased = 1
        /// Playback with the token registers the device for the viewer's cookie.
        case registration = 2
        /// The token is valid on the device that is registered for the cookie.
        case deviceBound = 3
    }

    private static let expressPlayCertificateSettings: [Parameter] = [
        .setting(
            SettingName.certificate, "application certificate in base64; without it certificateURL is asked",
            example: "MIIB"),
        .certificateURL(example: "https://cdn.example/fairplay.cer"),
    ]

    /// The codes come in a page or in JSON of an unpublished form, so the rules search for them anywhere.
    private static let expressPlayErrors = ErrorRules(code: [.knownCode], codes: expressPlayCodes.codes)
}
