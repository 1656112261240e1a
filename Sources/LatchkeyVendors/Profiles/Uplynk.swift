/// Uplynk (Verizon Media, Edgecast, Edgio). Source: `Documentation/Vendors/Uplynk.md`.
///
/// The key URI contains the license URL with its authorization, so there is no token. The playback URL has to be signed.
extension VendorProfile {
    /// As THEOplayer and the vendor's iOS sample: the query item `b`, decoded, or else the first item names the key.
    public static let uplynk = VendorProfile(
        identifier: "uplynk", name: "Uplynk",
        parameters: [
            .certificateURL(
                "address of the application certificate, as preplay's drm.fairplayCertificateURL has it",
                required: true, example: "https://x-drm.uplynk.com/fairplay/public_key/owner.cer")
        ],
        contentIdentifierRule: .firstOf([.percentDecoded(uplynkAsset), uplynkAsset]),
        certificate: .fetched(.der),
        license: RequestRule(method: "POST", url: URLRule(.httpsURI), body: .json(["spc": .rule(.spc)])),
        decoder: .json(["ckc"]),
        evidence: ProfileEvidence(
            .sampleRead, read: "2026-11-22", "THEOplayer/samples-drm-integration, upLynk/Sample-Players"))

    /// As the vendor's web player: the item's raw value up to a second `=` names the key, also in the request's `assetId`.
    package static let uplynkWeb = variant(of: .uplynk, "uplynk-web", "Uplynk (web player)") {
        $0.contentIdentifierRule = .upTo("=", in: uplynkAsset)
        $0.certificate = .fetched(
            RequestRule(url: URLRule(.certificateURL), headers: [.init("Cache-Control", "max-age=0")]), .der)
        $0.license.body = .json(["spc": .rule(.spc), "assetId": .rule(.contentID)])
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "Uplynk/uplynkhtml5playersdk")
    }

    private static let uplynkAsset = TextRule.firstOf([.query("b"), .firstQueryValue])
}
