extension FairPlayErrorExplanation {
    /// The errors of players in browsers that concern keys. Those of hls.js and videojs-contrib-eme have names alone.
    ///
    /// Source: video-dev/hls.js, src/errors.ts; videojs/videojs-contrib-eme, src/consts/errors.js; muxinc/elements,
    /// packages/playback-core; cdn.bitmovin.com/player/web/8/docs/enums/Core.ErrorCode.html; HTML, MediaError; read on 2026-11-27.
    static let browsers: [Self] = mediaElement + muxPlayer + bitmovinWeb + hlsJS + contribEME

    private static let mediaElement = [
        player(
            .mediaElement, 1, "MEDIA_ERR_ABORTED", "The viewer or the page ended the loading.", "The page.",
            "Show nothing."),
        player(
            .mediaElement, 2, "MEDIA_ERR_NETWORK", "The media stopped to load.", "The network or the CDN.",
            "Look at the requests; keys are seldom at fault."),
        player(
            .mediaElement, 3, "MEDIA_ERR_DECODE", "The media could not be decoded.",
            "A key or IV that does not open it, or damaged media.", "Look at the media: latchkey doctor."),
        player(
            .mediaElement, 4, "MEDIA_ERR_SRC_NOT_SUPPORTED", "The browser does not play what the URL gave.",
            "A web page, a refusal, or a type that the browser lacks.", "Open the stream's URL: latchkey keys URL."),
        player(
            .mediaElement, 5, "MEDIA_ERR_ENCRYPTED",
            "The media is encrypted and no key opens it; video.js and Mux add it.",
            "A license or certificate that did not come.", "Look at the words beside it."),
    ]

    private static let muxPlayer = [
        player(
            .muxPlayer, 5, "MEDIA_ERR_ENCRYPTED", "Something of the keys failed.",
            "No token, no key system, no SPC, a refused license or certificate, or a display without HDCP.",
            "Look at muxCode, 5000001 to 5000006, or at the words beside it."),
        player(
            .muxPlayer, 2_403_201, "NETWORK_TOKEN_MISSING", "The request had no token.", "No drm token given.",
            "Give the player its drm token."),
        player(
            .muxPlayer, 2_403_210, "NETWORK_TOKEN_EXPIRED", "The token's time is over.", "A token made too early.",
            "Get a fresh token right before playback."),
        player(
            .muxPlayer, 2_403_221, "NETWORK_TOKEN_AUD_MISSING", "The token does not say what it is for.",
            "A token without aud.", "Sign it with aud d."),
        player(
            .muxPlayer, 2_403_222, "NETWORK_TOKEN_AUD_MISMATCH", "The token is for something else.",
            "A token for playback in place of the one for keys.", "Sign it with aud d."),
        player(
            .muxPlayer, 2_403_232, "NETWORK_TOKEN_SUB_MISMATCH", "The token is for another playback id.",
            "Tokens that were mixed up.", "Sign one for this playback id."),
        player(
            .muxPlayer, 2_412_202, "NETWORK_TOKEN_MALFORMED", "The token is no token.", "A text that was cut.",
            "latchkey inspect token FILE."),
        player(
            .muxPlayer, 2_412_000, "NETWORK_NOT_READY", "The asset is not ready yet.", "It is still being prepared.",
            "Try again later."),
        player(
            .muxPlayer, 5_000_000, "ENCRYPTED_ERROR", "Something of the keys failed, for no stated reason.",
            "The words beside it.", "Look at the browser's console."),
        player(
            .muxPlayer, 5_000_001, "ENCRYPTED_UNSUPPORTED_KEY_SYSTEM", "The browser has no such key system.",
            "A browser without FairPlay.", "Use Safari."),
        player(
            .muxPlayer, 5_000_002, "ENCRYPTED_GENERATE_REQUEST_FAILED", "No SPC was made, or no drm token was given.",
            "The certificate, or the missing token: both have this number.", "Give the player its drm token first."),
        player(
            .muxPlayer, 5_000_003, "ENCRYPTED_UPDATE_LICENSE_FAILED", "The browser refused the license.",
            "What came is no CKC, or for another SPC.", "latchkey inspect ckc FILE."),
        player(
            .muxPlayer, 5_000_004, "ENCRYPTED_UPDATE_SERVER_CERT_FAILED", "The browser refused the certificate.",
            "What came is no certificate.", "latchkey inspect certificate FILE."),
        player(
            .muxPlayer, 5_000_005, "ENCRYPTED_CDM_ERROR", "The system's DRM failed.", "The number beside it.",
            "latchkey explain that number."),
        player(
            .muxPlayer, 5_000_006, "ENCRYPTED_OUTPUT_RESTRICTED", "The display does not protect the picture enough.",
            "The key's HDCP requirement.", "Use another display, or lower the output policy."),
    ]

    private static let bitmovinWeb = [
        player(
            .bitmovinWeb, 1404, "NETWORK_FAILED_CERTIFICATE_REQUEST", "The certificate did not load.",
            "A wrong certificate URL.", "Open the certificate's URL."),
        player(
            .bitmovinWeb, 2001, "DRM_MISSING_CONFIGURATION", "The stream is FairPlay's and nothing is configured.",
            "A source without drm.fairplay.", "Give the source its drm.fairplay."),
        player(
            .bitmovinWeb, 2002, "DRM_NO_LICENSE_SERVER_URL_PROVIDED", "No license URL is configured.",
            "drm.fairplay without LA_URL.", "Give LA_URL."),
        player(
            .bitmovinWeb, 2003, "DRM_FAILED_LICENSE_REQUEST", "The license request failed.",
            "The service refused, or the request lacks what it wants.", "Look at the reply: its body says why."),
        player(
            .bitmovinWeb, 2006, "DRM_NO_KEY_SYSTEM", "There is no key system for the stream.",
            "A browser without FairPlay.",
            "Use Safari."),
        player(
            .bitmovinWeb, 2007, "DRM_KEY_SESSION_INITIALIZATION_FAILED", "No key session began.",
            "The key's initialization data.",
            "Look at prepareContentId."),
        player(
            .bitmovinWeb, 2008, "DRM_MEDIA_KEY_INITIALIZATION_FAILED", "The keys could not be set up.",
            "The browser's settings or state.", "Look at the browser's console."),
        player(
            .bitmovinWeb, 2009, "DRM_KEY_ERROR", "The system refused a key.",
            "A license that is no CKC, or for another SPC.",
            "latchkey inspect ckc FILE."),
        player(
            .bitmovinWeb, 2010, "DRM_KEY_SYSTEM_NOT_SUPPORTED", "The browser has none of FairPlay's key systems.",
            "Another browser, or a page without https.", "Use Safari, and https."),
        player(
            .bitmovinWeb, 2011, "DRM_CERTIFICATE_ERROR", "The certificate was refused or did not load.",
            "A wrong URL, PEM, base64 or a web page.", "latchkey inspect certificate FILE."),
        player(
            .bitmovinWeb, 2013, "DRM_RESTRICTED_OUTPUT", "The display does not protect the picture enough.",
            "The key's HDCP requirement.", "Use another display, or lower the output policy."),
        player(
            .bitmovinWeb, 2015, "DRM_INIT_DATA_MISSING", "Nothing says which key the stream needs.",
            "Key tags are missing.",
            "latchkey keys PLAYLIST."),
    ]

    private static let hlsJS = [
        named(
            .hlsJS, "keySystemNoKeys", "The browser made no keys object.", "A browser without FairPlay.",
            "Use Safari."),
        named(
            .hlsJS, "keySystemNoAccess", "The browser gave no access to a key system.",
            "emeEnabled or drmSystems is missing, or a page without https.", "Set emeEnabled and drmSystems."),
        named(
            .hlsJS, "keySystemNoSession", "A key session failed.", "The initialization data, or the system's DRM.",
            "Look at the error's data."),
        named(
            .hlsJS, "keySystemNoConfiguredLicense", "No license URL is configured for the key system.",
            "drmSystems without licenseUrl.", "Give licenseUrl."),
        named(
            .hlsJS, "keySystemLicenseRequestFailed", "The license request failed.", "The service refused.",
            "Look at the status of the reply."),
        named(
            .hlsJS, "keySystemServerCertificateRequestFailed", "The certificate did not load.",
            "A wrong serverCertificateUrl.", "Open the certificate's URL."),
        named(
            .hlsJS, "keySystemServerCertificateUpdateFailed", "The browser refused the certificate.",
            "PEM, base64 or a web page.", "latchkey inspect certificate FILE."),
        named(
            .hlsJS, "keySystemSessionUpdateFailed", "The browser refused the license.",
            "A CKC that is still wrapped in base64, JSON or XML.", "Unwrap it in licenseResponseCallback."),
        named(
            .hlsJS, "keySystemStatusOutputRestricted", "The display does not protect the picture enough.",
            "The key's HDCP requirement.", "Use another display, or lower the output policy."),
        named(
            .hlsJS, "keySystemStatusInternalError", "The system's DRM failed.", "The license, or the system.",
            "Play the stream in Safari itself and look at its error."),
    ]

    private static let contribEME = [
        named(
            .contribEME, "eme-failed-request-media-key-system-access", "The browser gave no access to a key system.",
            "A browser without FairPlay, or a page without https.", "Use Safari, and https."),
        named(
            .contribEME, "eme-failed-create-media-keys", "The browser made no keys object.",
            "The browser's settings or state.", "Look at the browser's console."),
        named(
            .contribEME, "eme-failed-attach-media-keys-to-video",
            "The keys could not be attached to the video element.",
            "Another player that still holds the element.", "Dispose of the other player first."),
        named(
            .contribEME, "eme-failed-create-media-key-session", "The browser refused a key session.",
            "The browser's limit of sessions.", "Look at the browser's console."),
        named(
            .contribEME, "eme-failed-set-server-certificate", "The browser refused the certificate.",
            "PEM, base64 or a web page.", "latchkey inspect certificate FILE."),
        named(
            .contribEME, "eme-failed-generate-license-request", "No SPC was made.",
            "The certificate or the content id.", "Look at getContentId and the certificate."),
        named(
            .contribEME, "eme-failed-update-session", "The browser refused the license.",
            "A CKC that is still wrapped in base64, JSON or XML.", "Unwrap it in getLicense."),
        named(
            .contribEME, "eme-failed-load-session", "A stored key session did not load.",
            "The browser's data was cleared.",
            "Ask for the license again."),
    ]

    private static func named(
        _ domain: Domain, _ name: String, _ meaning: String, _ cause: String, _ remedy: String
    ) -> Self {
        player(domain, 0, name, meaning, cause, remedy)
    }
}
