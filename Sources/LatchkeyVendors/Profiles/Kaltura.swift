import LatchkeyCore

/// Kaltura uDRM. Source: `Documentation/Vendors/Kaltura.md`.
///
/// The license URL, from the entry's playback context, contains the authorization. The certificate comes with the app in base64, or from
/// an address. The reply states how long the key may be stored. The service refuses with status 200 too; the document then has a
/// `status_code`. The web player names the key in the header `X-Kaltura-InitData` (`kaltura-web`).
extension VendorProfile {
    /// Kaltura uDRM.
    package static let kaltura = VendorProfile(
        identifier: "kaltura", name: "Kaltura uDRM",
        parameters: [
            .setting(SettingName.certificate, "the application certificate in base64", example: "MIIDAAAA"),
            .certificateURL(
                "address of the certificate, where the app does not bring it",
                example: "https://udrm.example.com/fairplay.cer"),
            .licenseURL(
                "address of the license service with its query, from the playback context",
                required: true,
                example: "https://udrm.example.com/fps/license?custom_data=AAAA&signature=AAAA"),
        ],
        contentIdentifierRule: .host,
        certificate: .inlineOrFetched(.sniff),
        license: RequestRule(
            method: "POST", url: URLRule(.licenseURL),
            headers: [.init("Content-Type", "application/octet-stream")], body: .base64Text),
        decoder: .json(["ckc"]), terms: TermsRule(storage: .reply("persistence_duration")),
        errors: ErrorRules(
            code: [.json("status_code")], message: [.json("message"), .json("error"), .text],
            kinds: [
                "401": .unauthenticated, "403": .forbidden, "404": .notFound, "500": .serverTransient,
                "503": .serverTransient,
            ],
            refusesWithSuccess: true),
        statedRedaction: Redaction(queryItems: ["custom_data"]),
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "kaltura/playkit-ios"))

    /// Kaltura uDRM as in the web player.
    package static let kalturaWeb = variant(of: .kaltura, "kaltura-web", "Kaltura uDRM (web player)") {
        $0.license.headers = [
            .init("Content-Type", "application/json"), .init("X-Kaltura-InitData", .base64(.contentID)),
        ]
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-22", "kaltura/playkit-js, a recorded request")
    }
}
