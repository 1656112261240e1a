public import Foundation

/// JW Player's "Studio DRM with JW Platform". Source: `vendors.md` §17.
///
/// The delivery document of a media item names certificate and license addresses; they are signed and short-lived, so it is
/// asked for once per loader, and a loader serves one playback. "Studio DRM Standalone" is VuDRM.
extension VendorProfile {
    /// Studio DRM with JW Platform.
    public static let jwPlatform = VendorProfile(
        identifier: "jw-platform", name: "JW Platform",
        parameters: [
            .setting(
                "deliveryURL", "address of the delivery document: /v2/media/MEDIA/drm/POLICY", required: true,
                example: "https://cdn.jwplayer.com/v2/media/abcdefgh/drm/ijklmnop"),
            .credential(
                "token", "token of the delivery document, a JWT, where its address lacks one", required: false,
                example: "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE4OTM0NTYwMDB9.AAAA"),
        ],
        // The signed address names the key; the vendor's sample has a constant here.
        contentIdentifier: "jw-platform",
        certificate: .fetched(RequestRule(url: URLRule(.lookup("certificateURL"))), .der),
        lookup: LookupRule(
            .loader,
            request: RequestRule(
                url: URLRule(
                    .setting("deliveryURL"), [.addQueryIfAbsent(name: "token", value: .credential("token"))])),
            values: [
                "certificateURL": "playlist.0.sources.*.drm.fairplay.certificateUrl",
                "licenseURL": "playlist.0.sources.*.drm.fairplay.processSpcUrl",
            ]),
        license: RequestRule(method: "POST", url: URLRule(.lookup("licenseURL")), body: .raw),
        decoder: .raw, token: .jwt)
}

extension DRMIntegration where Self == VendorProfile {
    /// Studio DRM with JW Platform.
    /// - Parameter delivery: the address of the delivery document.
    public static func jwPlatform(delivery: URL) -> VendorProfile {
        VendorProfile.jwPlatform.setting("deliveryURL", to: delivery.absoluteString)
    }
}
