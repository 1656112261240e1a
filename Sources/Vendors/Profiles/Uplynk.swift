public import Foundation

/// Uplynk (Verizon Media, Edgecast, Edgio). Source: `vendors.md` §4.
///
/// The key URI holds the license URL with everything that authorizes it, so there is no token; the playback URL has to be signed.
extension VendorProfile {
    /// As THEOplayer and the vendor's iOS sample: the key is named by the query item `b`, decoded, else by the first item.
    public static let uplynk = VendorProfile(
        identifier: "uplynk", name: "Uplynk",
        parameters: [
            .setting(
                "certificateURL",
                "address of the application certificate, as preplay's drm.fairplayCertificateURL has it",
                required: true, example: "https://x-drm.uplynk.com/fairplay/public_key/owner.cer")
        ],
        contentIdentifier: .firstOf([.percentDecoded(uplynkAsset), uplynkAsset]),
        certificate: .fetched(.der),
        license: RequestRule(method: "POST", url: URLRule(.httpsURI), body: .json(["spc": .rule(.spc)])),
        decoder: .json(["ckc"]))

    /// As the vendor's web player: the item's raw value up to a second `=`, which the request repeats as `assetId`.
    public static let uplynkWeb = variant(of: .uplynk, "uplynk-web", "Uplynk (web player)") {
        $0.contentIdentifierRule = .upTo("=", in: uplynkAsset)
        $0.certificate = .fetched(
            RequestRule(url: URLRule(.setting("certificateURL")), headers: [.init("Cache-Control", "max-age=0")]), .der)
        $0.license.body = .json(["spc": .rule(.spc), "assetId": .rule(.contentID)])
    }

    private static let uplynkAsset = TextRule.firstOf([.query("b"), .firstQueryValue])
}

extension DRMIntegration where Self == VendorProfile {
    /// Uplynk.
    /// - Parameter certificate: the address of the application certificate.
    public static func uplynk(certificate: URL) -> VendorProfile {
        VendorProfile.uplynk.setting("certificateURL", to: certificate.absoluteString)
    }
}
