/// Mux. Source: `vendors.md` §15.
///
/// An empty reply with status 200 occurs and is an error. A token for offline playback has `offline`, `licenseExpiration` and
/// `playDuration`; a stored key cannot be renewed and is downloaded again. The SPC names the key by the whole key URI (`mux`)
/// or, as the web players have it, without its scheme (`mux-web`).
extension VendorProfile {
    /// The native SDK's dialect.
    public static let mux = VendorProfile(
        identifier: "mux", name: "Mux",
        parameters: [
            .setting("playbackId", "playback id of the asset", required: true, example: "DEMO00000000000000000000"),
            .setting(
                "certificateURL", "address of the certificate, without the playback id", example: muxCertificateURL),
            .setting("licenseURL", "address of the license service, without the playback id", example: muxLicenseURL),
            .credential(
                "token", "DRM token of the playback id, a JWT whose aud is d",
                example: "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJkIiwiZXhwIjoxODkzNDU2MDAwfQ.AAAA"),
        ],
        contentIdentifier: .wholeURI,
        certificate: .fetched(RequestRule(url: URLRule(.setting("certificateURL"), muxAddress)), .der),
        license: RequestRule(method: "POST", url: URLRule(.setting("licenseURL"), muxAddress), body: .raw),
        decoder: .raw,
        // A license lasts about 24 hours and states no lease; the SDK asks again after 23.
        renewal: RenewalPolicy(interval: 82_800, renewsStoredKeys: false),
        // 403 is how Mux says that the token expired or is for another asset; 412, that the asset is not ready.
        errors: ErrorRules(kinds: ["403": .unauthenticated, "412": .serverTransient]),
        token: .mux,
        settings: ["certificateURL": muxCertificateURL, "licenseURL": muxLicenseURL])

    /// The web players' dialect.
    public static let muxWeb = variant(of: .mux, "mux-web", "Mux (no scheme in the SPC)") {
        $0.contentIdentifierRule = .remainder
    }

    private static let muxCertificateURL = "https://license.mux.com/appcert/fairplay"
    private static let muxLicenseURL = "https://license.mux.com/license/fairplay"
    private static let muxAddress: [URLRule.Change] = [
        .appendPathIfAbsent(.setting("playbackId")), .setQuery(name: "token", value: .credential("token")),
    ]
}

extension DRMIntegration where Self == VendorProfile {
    /// Mux.
    /// - Parameter playbackID: the playback id of the asset.
    public static func mux(playbackID: String) -> VendorProfile {
        VendorProfile.mux.setting("playbackId", to: playbackID)
    }
}
