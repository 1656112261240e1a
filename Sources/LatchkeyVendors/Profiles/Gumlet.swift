/// Gumlet. Source: `Documentation/Vendors/Gumlet.md`.
///
/// The SPC is sent in the URL-safe alphabet of base64. How it names the key is not published; the host is what players use by
/// default (§21).
extension VendorProfile {
    /// Gumlet.
    package static let gumlet = VendorProfile(
        identifier: "gumlet", name: "Gumlet",
        parameters: [
            .certificateURL(
                required: true,
                example: "https://fairplay.example.com/certificate/demo"),
            .licenseURL(
                "address of the license service, with its token", required: true,
                example: "https://fairplay.example.com/license/demo"),
        ],
        contentIdentifierRule: .host,
        certificate: .fetched(.sniff),
        license: RequestRule(
            method: "POST", url: URLRule(.licenseURL), body: .json(["spc": .rule(.spcURLSafe)])),
        decoder: .tolerant,
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "shaka-player, lib/drm/fairplay.js"))
}
