/// The convention of Apple's sample key server. Source: `vendors.md` §21.
///
/// Many in-house servers follow it: a form of `spc` and `assetId`, and base64 text, perhaps inside `<ckc>` and `</ckc>`, for an
/// answer. The host of the key URI names the key.
extension VendorProfile {
    /// Apple's sample key server.
    public static let appleSample = VendorProfile(
        identifier: "apple-sample", name: "Apple's sample key server",
        parameters: [
            .setting(
                "certificateURL", "address of the application certificate", required: true,
                example: "https://keys.example.com/fairplay.cer"),
            .setting(
                "licenseURL", "address of the key server module", required: true,
                example: "https://keys.example.com/ksm"),
        ],
        contentIdentifier: .host,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST", url: URLRule(.setting("licenseURL")),
            body: .form([.init("spc", .spc), .init("assetId", .contentID)])),
        decoder: .tagged)
}
