/// Conax. Source: `Documentation/Vendors/Conax.md`.
///
/// The key URI is `skd://BASE64[?…]`. The decoded base64 names the key.
extension VendorProfile {
    /// Conax.
    package static let conax = VendorProfile(
        identifier: "conax", name: "Conax",
        parameters: [
            .certificateURL(
                required: true,
                example: "https://drm.example.com/fairplay.cer"),
            .licenseURL(
                required: true,
                example: "https://drm.example.com/license"),
        ],
        contentIdentifierRule: .base64Decoded(.remainderBeforeQuery),
        certificate: .fetched(.der),
        license: RequestRule(method: "POST", url: URLRule(.licenseURL), body: .raw),
        decoder: .tolerant,
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "shaka-player, lib/drm/fairplay.js"))
}
