/// Conax. Source: `vendors.md` §18.
///
/// The key URI is `skd://BASE64[?…]`; what the base64 stands for names the key.
extension VendorProfile {
    /// Conax.
    public static let conax = VendorProfile(
        identifier: "conax", name: "Conax",
        parameters: [
            .setting(
                "certificateURL", "address of the application certificate", required: true,
                example: "https://drm.example.com/fairplay.cer"),
            .setting(
                "licenseURL", "address of the license service", required: true,
                example: "https://drm.example.com/license"),
        ],
        contentIdentifier: .base64Decoded(.remainderBeforeQuery),
        certificate: .fetched(.der),
        license: RequestRule(method: "POST", url: URLRule(.setting("licenseURL")), body: .raw),
        decoder: .tolerant)
}
