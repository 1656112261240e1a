/// Gumlet. Source: `vendors.md` §19.
///
/// The SPC travels in the URL-safe alphabet of base64. How it names the key is not published; the host is what players take
/// where nobody says otherwise (§21).
extension VendorProfile {
    /// Gumlet.
    public static let gumlet = VendorProfile(
        identifier: "gumlet", name: "Gumlet",
        parameters: [
            .setting(
                "certificateURL", "address of the application certificate", required: true,
                example: "https://fairplay.example.com/certificate/demo"),
            .setting(
                "licenseURL", "address of the license service, with its token", required: true,
                example: "https://fairplay.example.com/license/demo"),
        ],
        contentIdentifier: .host,
        certificate: .fetched(.sniff),
        license: RequestRule(
            method: "POST", url: URLRule(.setting("licenseURL")), body: .json(["spc": .rule(.spcURLSafe)])),
        decoder: .tolerant)
}
