/// The convention of Apple's sample key server. Source: `Documentation/Vendors/AppleSample.md`.
///
/// Many in-house servers follow it: a form of `spc` and `assetId`; the answer is base64 text, perhaps inside `<ckc>` and `</ckc>`. The
/// host of the key URI names the key.
extension VendorProfile {
    /// Apple's sample key server.
    package static let appleSample = VendorProfile(
        identifier: "apple-sample", name: "Apple's sample key server",
        parameters: [
            .certificateURL(
                required: true,
                example: "https://keys.example.com/fairplay.cer"),
            .licenseURL(
                "address of the key server module", required: true,
                example: "https://keys.example.com/ksm"),
        ],
        contentIdentifierRule: .host,
        certificate: .fetched(.der),
        license: RequestRule(
            method: "POST", url: URLRule(.licenseURL),
            body: .form([.init("spc", .spc), .init("assetId", .contentID)])),
        decoder: .tagged,
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "shaka-player, lib/drm/fairplay.js"))
}
