/// License services of any vendor: the four forms that nearly all of them use. Source: `Documentation/Vendors/Generic.md`.
///
/// The setting `contentId`, or else the key URI's host, names the key. A token, if there is one, is sent as a bearer token. For a
/// service that expects it elsewhere, write a profile.
extension VendorProfile {
    /// SPC and CKC unchanged. A CKC in another form is read with a warning, as players do.
    package static let genericRaw = generic("raw", "raw", body: .raw, decoder: .preferring(.raw))

    /// Base64 text both ways.
    package static let genericBase64 = generic("base64", "base64 text", body: .base64Text, decoder: .base64Text)

    /// A form of `spc` and `assetId`; the answer is base64 text, perhaps inside `<ckc>`.
    package static let genericForm = generic(
        "form", "form", body: .form([.init("spc", .spc), .init("assetId", .contentID)]), decoder: .tagged)

    /// JSON both ways: `spc` and `ckc`.
    package static let genericJSON = generic("json", "JSON", body: .json(["spc": .rule(.spc)]), decoder: .json(["ckc"]))

    private static func generic(
        _ suffix: String, _ form: String, body: BodyRule, decoder: CKCDecoder
    ) -> VendorProfile {
        VendorProfile(
            identifier: "generic-\(suffix)", name: "Generic (\(form))",
            parameters: [
                .certificateURL(
                    "address of the application certificate: DER, PEM or base64", required: true,
                    example: "https://keys.example.com/fairplay.cer"),
                .licenseURL(
                    "address of the license service, where the key URI does not hold it",
                    example: "https://keys.example.com/license"),
                .setting("contentId", "what names the key, where it is not the key URI's host", example: "demo-1"),
                .token("bearer token, where the service asks for one", required: false, example: "AAAA"),
            ],
            contentIdentifierRule: .firstOf([.setting("contentId"), .host]),
            certificate: .fetched(.sniff),
            license: RequestRule(
                method: "POST", url: URLRule(.firstOf([.licenseURL, .httpsURI])),
                headers: [.bearer], body: body),
            decoder: decoder,
            evidence: ProfileEvidence(
                .sampleRead, read: "2026-11-21", "shaka-player, videojs-contrib-eme, react-native-video"))
    }
}
