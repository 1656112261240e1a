import LatchkeyCore

/// Kaltura uDRM. Source: `vendors.md` §19.
///
/// The license URL, from the entry's playback context, carries all that authorizes. The certificate comes with the app in
/// base64, or from an address. The reply states how long the key may be stored.
extension VendorProfile {
    /// Kaltura uDRM.
    public static let kaltura = VendorProfile(
        identifier: "kaltura", name: "Kaltura uDRM",
        parameters: [
            .setting("certificate", "the application certificate in base64", example: "MIIDAAAA"),
            .setting(
                "certificateURL", "address of the certificate, where the app does not bring it",
                example: "https://udrm.example.com/fairplay.cer"),
            .setting(
                "licenseURL", "address of the license service with its query, from the playback context",
                required: true,
                example: "https://udrm.example.com/fps/license?custom_data=AAAA&signature=AAAA"),
        ],
        contentIdentifier: .host,
        certificate: .inlineOrFetched(.sniff),
        license: RequestRule(
            method: "POST", url: URLRule(.setting("licenseURL")),
            headers: [.init("Content-Type", "application/octet-stream")], body: .base64Text),
        decoder: .json(["ckc"]), terms: TermsRule(storage: .reply("persistence_duration")),
        redaction: Redaction(queryItems: ["custom_data"]))
}
