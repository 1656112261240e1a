/// License services without a name: the four ways in which nearly all of them speak. Source: `vendors.md` §20.
///
/// The setting `contentId`, else the key URI's host, names the key. A token, where there is one, travels as a bearer token; a
/// service that wants it elsewhere deserves a profile of its own.
extension VendorProfile {
    /// The SPC as it is, the CKC as it is.
    public static let genericRaw = generic("raw", "raw", body: .raw, decoder: .raw)

    /// Base64 text both ways.
    public static let genericBase64 = generic("base64", "base64 text", body: .base64Text, decoder: .base64Text)

    /// A form of `spc` and `assetId`; base64 text, perhaps inside `<ckc>`, for an answer.
    public static let genericForm = generic(
        "form", "form", body: .form([.init("spc", .spc), .init("assetId", .contentID)]), decoder: .tagged)

    /// JSON both ways: `spc` and `ckc`.
    public static let genericJSON = generic("json", "JSON", body: .json(["spc": .rule(.spc)]), decoder: .json(["ckc"]))

    private static func generic(
        _ suffix: String, _ form: String, body: BodyRule, decoder: CKCDecoder
    ) -> VendorProfile {
        VendorProfile(
            identifier: "generic-\(suffix)", name: "Generic (\(form))",
            parameters: [
                .setting(
                    "certificateURL", "address of the application certificate: DER, PEM or base64", required: true,
                    example: "https://keys.example.com/fairplay.cer"),
                .setting(
                    "licenseURL", "address of the license service, where the key URI does not hold it",
                    example: "https://keys.example.com/license"),
                .setting("contentId", "what names the key, where it is not the key URI's host", example: "demo-1"),
                .credential("token", "bearer token, where the service asks for one", required: false, example: "AAAA"),
            ],
            contentIdentifier: .firstOf([.setting("contentId"), .host]),
            certificate: .fetched(.sniff),
            license: RequestRule(
                method: "POST", url: URLRule(.firstOf([.setting("licenseURL"), .httpsURI])),
                headers: [.bearer], body: body),
            decoder: decoder)
    }
}
