import LatchkeyCore

/// Mux. Source: `Documentation/Vendors/Mux.md`.
///
/// An empty reply with status 200 occurs and is an error. A token for offline playback has `offline`, `licenseExpiration` and
/// `playDuration`. A stored key is renewed with a new one of these, and the media stays. The SPC names the key by the whole key URI
/// (`mux`) or, as in the web players, by the URI without its scheme (`mux-web`).
extension VendorProfile {
    /// The native SDK's dialect.
    package static let mux = VendorProfile(
        identifier: "mux", name: "Mux",
        parameters: [
            .setting("playbackId", "playback id of the asset", required: true, example: "DEMO00000000000000000000"),
            .certificateURL("address of the certificate, without the playback id", example: muxCertificateURL),
            .licenseURL("address of the license service, without the playback id", example: muxLicenseURL),
            .token(
                "DRM token of the playback id, a JWT whose aud is d",
                example: "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJkIiwiZXhwIjoxODkzNDU2MDAwfQ.AAAA"),
        ],
        contentIdentifierRule: .wholeURI,
        certificate: .fetched(RequestRule(url: URLRule(.certificateURL, muxAddress)), .der),
        license: RequestRule(method: "POST", url: URLRule(.licenseURL, muxAddress), body: .raw),
        decoder: .preferring(.raw),
        // A license lasts about 24 hours and states no lease. The SDK renews it after 23, and keeps its key for replays as long.
        renewal: RenewalPolicy(interval: 82_800, cacheLifetime: 82_800),
        errors: ErrorRules(codes: muxStatuses.codes),
        token: .mux,
        settings: [SettingName.certificateURL: muxCertificateURL, SettingName.licenseURL: muxLicenseURL],
        evidence: ProfileEvidence(.sampleRead, read: "2026-11-21", "muxinc/mux-player-swift"))

    /// The web players' dialect.
    package static let muxWeb = variant(of: .mux, "mux-web", "Mux (no scheme in the SPC)") {
        $0.contentIdentifierRule = .remainder
        $0.evidence = ProfileEvidence(.sampleRead, read: "2026-11-21", "muxinc/elements, packages/playback-core")
    }

    /// The meanings of the statuses. Source: `Documentation/Vendors/Mux.md`.
    static let muxStatuses = CodeTable(
        """
        400 | invalidRequest | The token is missing, or the playback id is not valid. | Give the DRM token, and the playback id as it was made.
        403 | unauthenticated | The token has expired or is malformed, or the playback id is not the token's. | Give a fresh token whose sub is this playback id and whose aud is d.
        404 | notFound | The address is not valid.
        412 | serverTransient | The asset is not ready. | Try again when the asset is ready.
        500 | serverTransient | The service had an internal error.
        """)
    private static let muxCertificateURL = "https://license.mux.com/appcert/fairplay"
    private static let muxLicenseURL = "https://license.mux.com/license/fairplay"
    // Players may append modifiers of the stream to a playback id, `?redundant_streams=true`. They are not part of the id.
    private static let muxAddress: [URLRule.Change] = [
        .appendPathIfAbsent(.upTo("?", in: .setting("playbackId"))),
        .setQuery(name: "token", value: .token),
    ]
}
