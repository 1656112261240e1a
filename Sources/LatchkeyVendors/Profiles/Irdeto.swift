/// Irdeto Control. Source: `Documentation/Vendors/Irdeto.md`.
///
/// The license goes to the key URI, which is a whole `getckc` address, or to a configured one; then `contentId` and `keyId` come
/// from the settings, else from the key URI. The SPC names the key by `contentId` (`irdeto`) or by the key URI (`irdeto-theo`).
extension VendorProfile {
    /// The SPC names the key by the key URI's `contentId`.
    package static let irdeto = VendorProfile(
        identifier: "irdeto", name: "Irdeto Control",
        parameters: [
            .certificateURL(
                required: true,
                example: "https://tenant.live.ott.irdeto.com/licenseServer/streaming/v1/CUSTOMER/getcertificate"),
            .setting("applicationId", "application id, where the certificate's address lacks it", example: "app"),
            .licenseURL(
                "address of the license service, where it is not the key URI's",
                example: "https://tenant.live.ott.irdeto.com/licenseServer/streaming/v1/CUSTOMER/getckc"),
            .setting("contentId", "content id, where it is not the key URI's", example: "demo-1"),
            .setting(
                "keyId", "key id, where it is not the key URI's", example: "00000000-0000-0000-0000-000000000000"),
            .token(
                "bearer token, a JWT, where the customer's service asks for one", required: false,
                example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
        ],
        contentIdentifierRule: .firstOf([.query("contentId"), .setting("contentId")]),
        certificate: .fetched(
            RequestRule(
                url: URLRule(
                    .certificateURL,
                    [.addQueryIfAbsent(name: "applicationId", value: .setting("applicationId"))])),
            .der),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .firstOf([.licenseURL, .httpsURI]),
                [
                    .addQueryIfAbsent(name: "contentId", value: .setting("contentId")),
                    .addQueryIfAbsent(name: "keyId", value: .setting("keyId")),
                    .copyKeyURIQueryIfAbsent(names: ["contentId", "keyId"]),
                ]),
            headers: [.bearer], body: .raw),
        decoder: .raw, token: .jwt,
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "SRG's demo, ContentKeySessionManager.swift"))

    /// The SPC names the key by the whole key URI, as THEOplayer's web client has it.
    package static let irdetoTheo = variant(of: .irdeto, "irdeto-theo", "Irdeto Control (key URI in the SPC)") {
        $0.contentIdentifierRule = .wholeURI
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "THEOplayer/samples-drm-integration, web")
    }
}
