/// Vualto VuDRM, today JW Player's Studio DRM Standalone. Source: `Documentation/Vendors/VuDRM.md`.
///
/// The same hosts accept two forms of request, and clients differ in how the SPC names the key. Choose the profile of your sample:
/// `vudrm` is the JW Player 3 document, `vudrm-jw4` the vendor's page for JW Player 4, `vudrm-theo` THEOplayer and Bitmovin, `vudrm-raw`
/// the web players. The document reads the content id
/// as a URL's last path component, decoded and without a query; the other clients use the text after the last slash, unchanged. A token
/// is good for one license request, so give a fresh one each time.
///
/// The lease is in the token's policy, which only the service can read. State it in the setting `leaseDuration`, and keys are renewed
/// before its end.
extension VendorProfile {
    /// VuDRM's JSON dialect; the SPC names the key by the whole key URI.
    package static let vuDRM = VendorProfile(
        identifier: "vudrm", name: "VuDRM (JSON)",
        parameters: [vuDRMCertificateURL, vuDRMLicenseURL, vuDRMLease, vuDRMToken],
        contentIdentifierRule: .wholeURI, requestContentID: .lastPathComponent,
        certificate: .fetched(
            RequestRule(
                url: URLRule(.certificateURL, [.stripQuery]),
                headers: [.init("x-vudrm-token", .token), .init("Cache-Control", "max-age=0")]),
            .der),
        license: RequestRule(
            method: "POST", url: vuDRMLicense,
            body: .json([
                "token": .rule(.token), "contentId": .rule(.contentID), "payload": .rule(.spc),
            ])),
        decoder: .raw, terms: TermsRule(lease: .setting("leaseDuration")),
        renewal: RenewalPolicy(minimumLead: 60, minimumInterval: 300),
        errors: ErrorRules(requestID: ["x-request-id", "vualto-transaction-id"]), token: .vuDRM, hosts: vuDRMHosts,
        evidence: ProfileEvidence(.documented, read: "2026-11-22", "JW Player SDK iOS VUDRM FairPlay Integration"))

    /// VuDRM's JSON dialect; SPC and request name the key by the text after the key URI's last slash.
    public static let vuDRMTheo = variant(of: .vuDRM, "vudrm-theo", "VuDRM (JSON, content id in the SPC)") {
        $0.contentIdentifierRule = .afterLast("/")
        $0.requestContentID = nil
        $0.certificate = .fetched(
            RequestRule(
                url: URLRule(.certificateURL), headers: [.init("x-vudrm-token", .token)]),
            .der)
        $0.evidence = ProfileEvidence(
            .sampleRead, read: "2026-11-22", "THEOplayer/samples-drm-integration, ios and web")
    }

    /// VuDRM's raw dialect; the token is in a header, and not in the certificate request.
    package static let vuDRMRaw = variant(of: .vuDRMTheo, "vudrm-raw", "VuDRM (raw)") {
        $0.certificate = .fetched(.der)
        $0.license = RequestRule(
            method: "POST", url: vuDRMLicense, headers: [.init("x-vudrm-token", .token)], body: .raw)
        $0.evidence = ProfileEvidence(.documented, read: "2026-11-21", "Vualto/vudrm-public-docs, PlayerIntegrations")
    }

    /// VuDRM's raw dialect with the token in both requests; the SPC names the key by the whole key URI, or by its part after the last `;`.
    package static let vuDRMJW4 = variant(of: .vuDRM, "vudrm-jw4", "VuDRM (raw, JW Player 4)") {
        $0.contentIdentifierRule = .firstOf([.afterLast(";"), .wholeURI])
        $0.requestContentID = nil
        $0.license = RequestRule(
            method: "POST",
            url: URLRule(.firstOf([.licenseURL, .from(.firstOf([.afterLast(";"), .wholeURI]), take: .httpsURI)])),
            headers: [.init("x-vudrm-token", .token)], body: .raw)
        $0.errors.successes = Set(200..<300)
        $0.evidence = ProfileEvidence(
            .documented, read: "2026-11-27", "Vualto/vudrm-public-docs, jwplayersdk-v4-vudrm-ios-Integration")
    }

    private static let vuDRMHosts = ["fairplay-license.vudrm.tech", "fairplay-license.drm.technology"]
    private static let vuDRMLicense = URLRule(.firstOf([.licenseURL, .httpsURI]))
    private static let vuDRMCertificateURL = Parameter.certificateURL(
        required: true,
        example: "https://fairplay-license.vudrm.tech/certificate/demo-client")
    private static let vuDRMLicenseURL = Parameter.licenseURL(
        "address of the license service, where the key URI does not hold it",
        example: "https://fairplay-license.vudrm.tech/license")
    private static let vuDRMLease = Parameter.setting(
        "leaseDuration", "lease that the token's policy states, in seconds", example: "600")
    private static let vuDRMToken = Parameter.token(
        "VuDRM token, one for each request",
        example: "demo-client|2024-01-02T03:04:05Z|AAAAAAAAAAAAAAAAAAAAAA==|0000000000000000000000000000000000000000")
}
