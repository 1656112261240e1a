/// JW Player's "Studio DRM with JW Platform". Source: `Documentation/Vendors/JWPlatform.md`.
///
/// The delivery document of a media item has the addresses of certificate and license. They are signed and valid for a short time, so
/// each loader fetches the document once, and serves one playback. "Studio DRM Standalone" is VuDRM.
extension VendorProfile {
    /// Studio DRM with JW Platform.
    package static let jwPlatform = VendorProfile(
        identifier: "jw-platform", name: "JW Platform",
        parameters: [
            .setting(
                "deliveryURL", "address of the delivery document: /v2/media/MEDIA/drm/POLICY", required: true,
                example: "https://cdn.jwplayer.com/v2/media/abcdefgh/drm/ijklmnop"),
            .token(
                "token of the delivery document, a JWT, where its address lacks one", required: false,
                example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
        ],
        // The signed address names the key. The vendor's sample has a constant here.
        contentIdentifierRule: "jw-platform",
        certificate: .fetched(RequestRule(url: URLRule(.lookup("certificateURL"))), .der),
        lookup: LookupRule(
            .loader,
            request: RequestRule(
                url: URLRule(
                    .setting("deliveryURL"), [.addQueryIfAbsent(name: "token", value: .token)])),
            values: [
                "certificateURL": "playlist.0.sources.*.drm.fairplay.certificateUrl",
                "licenseURL": "playlist.0.sources.*.drm.fairplay.processSpcUrl",
            ]),
        license: RequestRule(method: "POST", url: URLRule(.lookup("licenseURL")), body: .raw),
        decoder: .raw, token: .jwt,
        evidence: ProfileEvidence(
            .documented, read: "2026-11-21", "docs.jwplayer.com, protection-studio-drm-avplayer-integration"))
}
