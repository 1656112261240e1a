public import Foundation

/// Vualto VuDRM, today JW Player's Studio DRM Standalone. Source: `vendors.md` §1.
///
/// Two request dialects stand against the same hosts, and clients differ in how the SPC names the key, so choose by what
/// your sample did: `vudrm` as the JW Player document, `vudrm-theo` as THEOplayer and Bitmovin, `vudrm-raw` as the web players.
/// A token answers one license request, so give a fresh one each time.
extension VendorProfile {
    /// VuDRM's JSON dialect; the SPC names the key by the whole key URI.
    public static let vuDRM = VendorProfile(
        identifier: "vudrm", name: "VuDRM (JSON)",
        parameters: [vuDRMCertificateURL, vuDRMLicenseURL, vuDRMToken],
        contentIdentifier: .wholeURI, requestContentID: .lastPathComponent,
        certificate: .fetched(
            RequestRule(
                url: URLRule(.setting("certificateURL"), [.stripQuery]),
                headers: [.init("x-vudrm-token", .credential("token")), .init("Cache-Control", "max-age=0")]),
            .der),
        license: RequestRule(
            method: "POST", url: vuDRMLicense,
            body: .json([
                "token": .rule(.credential("token")), "contentId": .rule(.contentID), "payload": .rule(.spc),
            ])),
        decoder: .raw, renewal: RenewalPolicy(minimumLead: 60, minimumInterval: 300), token: .vuDRM, hosts: vuDRMHosts)

    /// VuDRM's JSON dialect; the SPC names the key by the last part of the key URI's path.
    public static let vuDRMTheo = variant(of: .vuDRM, "vudrm-theo", "VuDRM (JSON, content id in the SPC)") {
        $0.contentIdentifierRule = .lastPathComponent
    }

    /// VuDRM's raw dialect; the token travels in a header, and not with the certificate request.
    public static let vuDRMRaw = variant(of: .vuDRMTheo, "vudrm-raw", "VuDRM (raw)") {
        $0.requestContentID = nil
        $0.certificate = .fetched(.der)
        $0.license = RequestRule(
            method: "POST", url: vuDRMLicense, headers: [.init("x-vudrm-token", .credential("token"))], body: .raw)
    }

    private static let vuDRMHosts = ["fairplay-license.vudrm.tech", "fairplay-license.drm.technology"]
    private static let vuDRMLicense = URLRule(.firstOf([.setting("licenseURL"), .httpsURI]))
    private static let vuDRMCertificateURL = Parameter.setting(
        "certificateURL", "address of the application certificate", required: true,
        example: "https://fairplay-license.vudrm.tech/certificate/demo-client")
    private static let vuDRMLicenseURL = Parameter.setting(
        "licenseURL", "address of the license service, where the key URI does not hold it",
        example: "https://fairplay-license.vudrm.tech/license")
    private static let vuDRMToken = Parameter.credential(
        "token", "VuDRM token, one for each request",
        example: "demo-client|2024-01-02T03:04:05Z|AAAAAAAAAAAAAAAAAAAAAA==|0000000000000000000000000000000000000000")
}

extension DRMIntegration where Self == VendorProfile {
    /// VuDRM as the JW Player document has it.
    /// - Parameter certificate: the address of the application certificate.
    public static func vuDRM(certificate: URL) -> VendorProfile {
        VendorProfile.vuDRM.setting("certificateURL", to: certificate.absoluteString)
    }
}
