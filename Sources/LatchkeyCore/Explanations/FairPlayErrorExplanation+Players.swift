extension FairPlayErrorExplanation {
    /// The codes of players that concern keys.
    ///
    /// Source: `Documentation/Players.md`; the published declarations of THEOplayer, Shaka Player and Bitmovin, and JW
    /// Player's iOS errors reference, read on 2026-11-22. What is newer names its source beside it.
    package static let players: [Self] =
        theoPlayer + jwPlayer + shakaPlayer + shakaStreams + openTV + bitmovin + reactNativeVideo + browsers

    private static let theoPlayer = [
        player(
            .theoPlayer, 7000, "CONTENT_PROTECTION_ERROR", "Content protection failed, for no stated reason.",
            "The error of the integration's callback.", "Log the error that the callback was given."),
        player(
            .theoPlayer, 7001, "CONTENT_PROTECTION_NOT_SUPPORTED", "This platform does not have the DRM system.",
            "A simulator, or a source for another DRM system.", "Use a device and a FairPlay source."),
        player(
            .theoPlayer, 7002, "CONTENT_PROTECTION_CONFIGURATION_MISSING",
            "The stream is protected and the source has no DRM configuration.", "A source without drm.",
            "Give the source its FairPlay configuration."),
        player(
            .theoPlayer, 7003, "CONTENT_PROTECTION_CONFIGURATION_INVALID", "The source's DRM configuration is wrong.",
            "A missing certificate or license URL, or an integration that is not registered.",
            "Register the integration before the source is set, under the source's integration id."),
        player(
            .theoPlayer, 7004, "CONTENT_PROTECTION_INITIALIZATION_INVALID",
            "The key's initialization data is unreadable.",
            "A key tag that is not FairPlay's.", "Look at the playlist with latchkey keys."),
        player(
            .theoPlayer, 7005, "CONTENT_PROTECTION_CERTIFICATE_ERROR", "The certificate did not load.",
            "A wrong certificate URL.", "Open the certificate's URL."),
        player(
            .theoPlayer, 7006, "CONTENT_PROTECTION_CERTIFICATE_INVALID", "What loaded as certificate is none.",
            "A web page or PEM text.", "latchkey inspect certificate FILE."),
        player(
            .theoPlayer, 7007, "CONTENT_PROTECTION_LICENSE_ERROR", "The license request failed.",
            "The service refused.", "Look at the HTTP status beside the error."),
        player(
            .theoPlayer, 7008, "CONTENT_PROTECTION_LICENSE_INVALID", "What came as license is none.",
            "A CKC that is still wrapped in base64, JSON or XML.", "latchkey inspect ckc FILE."),
        player(
            .theoPlayer, 7009, "CONTENT_PROTECTION_KEY_EXPIRED", "The key's time is over.",
            "A lease that was not renewed.", "Renew earlier."),
        player(
            .theoPlayer, 7010, "CONTENT_PROTECTION_KEY_MISSING", "There is no key for a track.",
            "A license without that key.", "Check the keys that the token covers."),
        player(
            .theoPlayer, 7011, "CONTENT_PROTECTION_OUTPUT_RESTRICTED",
            "The display does not protect the picture enough.",
            "The key's HDCP requirement.", "Use another display, or lower the output policy."),
        player(
            .theoPlayer, 7012, "CONTENT_PROTECTION_INTERNAL_ERROR", "The system's DRM failed.",
            "The number in systemCode.", "latchkey explain the systemCode."),
    ]

    private static let jwPlayer = [
        player(
            .jwPlayer, 281_000, "unknown player error",
            "The player failed for no stated reason; often content protection.",
            "A refused license, geoblocking or a signed URL that expired.",
            "Look at the underlying error, and at the error of the content key delegate."),
        player(
            .jwPlayer, 281_001, "failed to load media", "The media did not load.", "The playlist's URL.",
            "Open the playlist's URL."),
        player(
            .jwPlayer, 230_002, "no connection", "The network went away.", "The viewer is offline.",
            "Wait for the network."
        ),
    ]

    private static let shakaPlayer = [
        player(
            .shakaPlayer, 3016, "VIDEO_ERROR", "The browser's media element failed.",
            "The media, or a key or IV that does not open it: the browser does not say which.",
            "Look at error.data[0], the MediaError's code: latchkey explain MediaError 3."),
        player(
            .shakaPlayer, 6001, "REQUESTED_KEY_SYSTEM_CONFIG_UNAVAILABLE", "The browser has no such key system.",
            "A browser without FairPlay.", "Use Safari."),
        player(
            .shakaPlayer, 6002, "FAILED_TO_CREATE_CDM", "The browser has the key system and could not start it.",
            "The browser's settings or state.", "Look at error.data[0], the browser's words."),
        player(
            .shakaPlayer, 6003, "FAILED_TO_ATTACH_TO_VIDEO", "The keys could not be attached to the video element.",
            "Another player that still holds the element.", "Destroy the other player first."),
        player(
            .shakaPlayer, 6004, "INVALID_SERVER_CERTIFICATE", "The certificate was refused.",
            "PEM, base64 or a web page.",
            "latchkey inspect certificate FILE."),
        player(
            .shakaPlayer, 6005, "FAILED_TO_CREATE_SESSION", "The browser refused a key session.",
            "The browser's limit of sessions.", "Look at error.data[0], the browser's words."),
        player(
            .shakaPlayer, 6006, "FAILED_TO_GENERATE_LICENSE_REQUEST", "No SPC was made.",
            "The certificate or the content id.", "Check drm.advanced and the init data transform."),
        player(
            .shakaPlayer, 6007, "LICENSE_REQUEST_FAILED", "The license request failed.", "The service refused.",
            "Look at error.data[0], which has the HTTP status."),
        player(
            .shakaPlayer, 6008, "LICENSE_RESPONSE_REJECTED", "The browser refused the license.",
            "A CKC that is still wrapped in base64, JSON or XML.", "Unwrap it in a response filter."),
        player(
            .shakaPlayer, 6010, "ENCRYPTED_CONTENT_WITHOUT_DRM_INFO", "The stream is encrypted and says not how.",
            "Key tags are missing.", "latchkey keys PLAYLIST."),
        player(
            .shakaPlayer, 6012, "NO_LICENSE_SERVER_GIVEN", "No license server is configured.", "drm.servers.",
            "Configure com.apple.fps in drm.servers."),
        player(
            .shakaPlayer, 6013, "OFFLINE_SESSION_REMOVED", "A stored key is gone.",
            "The browser's data was cleared.", "Store the content again."),
        player(
            .shakaPlayer, 6014, "EXPIRED", "All keys expired.", "A lease that was not renewed.", "Renew earlier."),
        player(
            .shakaPlayer, 6015, "SERVER_CERTIFICATE_REQUIRED", "FairPlay needs a certificate and there is none.",
            "drm.advanced without serverCertificate.", "Give serverCertificateUri."),
        player(
            .shakaPlayer, 6016, "INIT_DATA_TRANSFORM_ERROR", "The init data transform threw.",
            "The app's own function.",
            "Look at error.data[0]."),
        player(
            .shakaPlayer, 6017, "SERVER_CERTIFICATE_REQUEST_FAILED", "The certificate did not load.",
            "A wrong certificate URL.", "Open the certificate's URL."),
        player(
            .shakaPlayer, 6018, "MIN_HDCP_VERSION_NOT_MATCH", "The display's HDCP version is too low.",
            "The configured minimum of HDCP.", "Use another display, or lower minHdcpVersion."),
        player(
            .shakaPlayer, 6019, "ERROR_CHECKING_HDCP_VERSION", "The display's HDCP version could not be asked for.",
            "A browser without that question.", "Leave minHdcpVersion out."),
        player(
            .shakaPlayer, 6020, "MISSING_EME_SUPPORT", "The page has no encrypted media extensions.",
            "A page without https.", "Serve the page over https."),
    ]

    // Source: shaka-project/shaka-player, lib/util/error.js, read on 2026-11-27.
    private static let shakaStreams = [
        player(
            .shakaPlayer, 1001, "BAD_HTTP_STATUS", "A request was answered with an error status.",
            "The service or the CDN; inside 6007 or 6017 it is the license's or the certificate's.",
            "Look at error.data[1], the status: latchkey explain HTTP 403."),
        player(
            .shakaPlayer, 1002, "HTTP_ERROR", "A request got no answer.",
            "The network, or a reply without CORS fields.",
            "Look at the browser's console for CORS."),
        player(
            .shakaPlayer, 1003, "TIMEOUT", "A request got no answer in time.", "A slow service.",
            "Measure the service with latchkey doctor."),
        player(
            .shakaPlayer, 4026, "HLS_KEYFORMATS_NOT_SUPPORTED", "No key tag of the playlist is for this browser.",
            "A stream without a FairPlay key tag, or another browser.", "latchkey keys PLAYLIST."),
        player(
            .shakaPlayer, 4032, "CONTENT_UNSUPPORTED_BY_BROWSER", "The browser plays no rendition of the stream.",
            "Codecs, or a key system that the browser lacks.", "Look at the codecs and at drm.servers."),
        player(
            .shakaPlayer, 4040, "HLS_MSE_ENCRYPTED_MP2T_NOT_SUPPORTED",
            "Encrypted transport streams do not play by media source extensions.", "Segments of type TS.",
            "Package as fMP4, or let Safari play the playlist itself."),
        player(
            .shakaPlayer, 4041, "HLS_MSE_ENCRYPTED_LEGACY_APPLE_MEDIA_KEYS_NOT_SUPPORTED",
            "Apple's older key interface does not play by media source extensions.",
            "The polyfill of the older interface.",
            "Use the standard interface, or let Safari play the playlist itself."),
        player(
            .shakaPlayer, 6000, "NO_RECOGNIZED_KEY_SYSTEMS", "The stream is protected by no key system that is known.",
            "Key tags of another system alone.", "latchkey keys PLAYLIST."),
        player(
            .shakaPlayer, 9007, "NO_INIT_DATA_FOR_OFFLINE",
            "The stream cannot be stored: nothing says which key it needs.",
            "No initialization data in playlist and segments.", "Play it online."),
    ]

    private static let openTV =
        openTVSessions + [
            player(
                .openTV, 5004, "license error", "The license was refused or did not come.",
                "The delegate returned nil.", "Look at OTVDRMLicenseError and at the license delegate's error."),
            player(
                .openTV, 5007, "license error", "The license was refused or did not come.", "The license service.",
                "Look at OTVDRMLicenseError."),
            player(
                .openTV, 5022, "license error", "The license was refused or did not come.", "The license service.",
                "Look at OTVDRMLicenseError."),
            player(
                .openTV, 6001, "session set-up error", "The secure session did not open.",
                "The session URL, or the streams of the account.", "Look at OTVSSMSetupErrorNotification."),
            player(
                .openTV, 6002, "session tear-down error", "The secure session did not close.", "The network.",
                "Show nothing."),
            player(
                .openTV, 6003, "session heartbeat error", "A heartbeat of the secure session was refused.",
                "The session ended at the service.", "Stop playback, and set the session up again."),
        ]

    // Source: docs.nagra.com, CONNECT Player SDK 5 for Android 5.32, SSM error codes; read on 2026-11-27.
    private static let openTVSessions = [
        (-1352, "SSM_SETUP_FAILURE", "did not open"), (-1353, "SSM_RENEWAL_FAILURE", "was not renewed"),
        (-1354, "SSM_TEARDOWN_FAILURE", "did not close"),
    ].map { code, name, what in
        player(
            .openTV, code, name, "A secure session \(what).", "The service's code, which stands in the extra.",
            "Look the extra up: latchkey explain 1007.")
    }

    private static let bitmovin = [
        player(
            .bitmovin, 2301, "DRM error", "The DRM session failed.", "The message beside it.",
            "Read the event's message."),
        player(
            .bitmovin, 2302, "DRM configuration missing", "The source has no DRM configuration.",
            "A source without drmConfig.",
            "Give the source a FairplayConfig."),
        player(
            .bitmovin, 2303, "license URL missing", "No license URL is configured.", "The FairplayConfig.",
            "Give it the license URL."),
        player(
            .bitmovin, 2306, "license request failed", "The license service refused.",
            "The token or the request's form.",
            "Look at the HTTP status in the message."),
        player(
            .bitmovin, 2307, "certificate request failed", "The certificate did not load.", "A wrong certificate URL.",
            "Open the certificate's URL."),
        player(
            .bitmovin, 2309, "certificate URL missing", "No certificate URL is configured.", "The FairplayConfig.",
            "Give it the certificate URL."),
    ]

    static func player(
        _ domain: Domain, _ code: Int, _ name: String, _ meaning: String, _ cause: String, _ remedy: String
    ) -> Self {
        Self(code, name, meaning, causes: [cause], try: [remedy], fixer: .app, domain: domain)
    }
}
