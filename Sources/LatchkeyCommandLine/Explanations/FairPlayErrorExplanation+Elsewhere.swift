import LatchkeyCore

// Numbers that never occur as an `NSError`: logs and viewers quote them.

extension FairPlayErrorExplanation.Domain {
    /// The status of an HTTP reply.
    static let http = Self(rawValue: "http")
    /// The version that a key server read from bytes that are not an SPC.
    static let keyServer = Self(rawValue: "keyServer")
    static let theoPlayer = Self(rawValue: "theoPlayer")
    static let jwPlayer = Self(rawValue: "jwPlayer")
    static let shakaPlayer = Self(rawValue: "shakaPlayer")
    /// NAGRA's OpenTV Player.
    static let openTV = Self(rawValue: "openTV")
    /// The Bitmovin Player for Apple's systems, and for browsers.
    static let bitmovin = Self(rawValue: "bitmovin")
    static let bitmovinWeb = Self(rawValue: "bitmovinWeb")
    /// Mux Player and Mux's elements.
    static let muxPlayer = Self(rawValue: "muxPlayer")
    /// A browser's `MediaError`, which video.js shows.
    static let mediaElement = Self(rawValue: "mediaElement")
    static let hlsJS = Self(rawValue: "hlsJS")
    static let contribEME = Self(rawValue: "contribEME")
    /// VdoCipher's license server.
    static let vdoCipher = Self(rawValue: "vdoCipher")
    static let expoVideo = Self(rawValue: "expoVideo")
    /// FairPlay of App Store apps, logged by the kernel.
    static let appEncryption = Self(rawValue: "appEncryption")
}

extension FairPlayErrorExplanation {
    /// Every known number of players, key servers and HTTP, ordered. Two players may use the same number; an error that has only a name has
    /// 0.
    static let elsewhere = (tablesElsewhere.flatMap(\.rows) + reactNativeVideo).sorted { $0.code < $1.code }

    /// Every explanation of a number, the system's first.
    /// - Parameter code: signed, or unsigned in 32 bits.
    static func explanations(of code: Int) -> [Self] {
        [explaining(code)].compactMap(\.self) + (code == 0 ? [] : elsewhere.filter { $0.code == code })
    }

    static let tablesElsewhere = [
        // The statuses with which certificate, license and media requests are refused.
        //
        // Source: RFC 9110 §15.
        table(
            .http,
            """
            400 | HTTP 400, bad request | The service could not read the request. | The SPC's envelope is not the vendor's: base64, form or JSON. / The SPC was made for a certificate that the service does not hold. | Compare the request with the vendor's: latchkey wire request. / latchkey doctor --spc FILE. | app
            401 | HTTP 401, unauthenticated | The service does not know the caller. | The token is missing, expired or signed with another secret. | Get a fresh token right before the request. / latchkey inspect token FILE. | app
            403 | HTTP 403, forbidden | The service knows the caller and refuses. | The token is for other content. / The region, the account or the device is not allowed. | Ask the vendor, with the request id if the service gave one. | service
            404 | HTTP 404, not found | There is no such address, certificate or key. | The URL is wrong. / The key was never stored at the vendor, or its content id differs. | Check the URL. / Compare the content id with the packager's. | packager
            405 | HTTP 405, method not allowed | The address takes other methods. | A GET where a POST belongs. | Check the URL and the method. | app
            407 | HTTP 407, proxy sign-in required | A proxy on the way wants a sign-in. | The network's proxy. | Use another network. | viewer
            408 | HTTP 408, request timeout | The request took too long to arrive. | A slow network. | Try again. | viewer
            410 | HTTP 410, gone | The resource no longer exists. | The content or the certificate was removed. | Ask the vendor. | service
            412 | HTTP 412, precondition failed | The service is not ready for this request. | At Mux: the asset is not ready yet. | Try again later. | service
            413 | HTTP 413, too large | The body is larger than the service takes. | An SPC that was encoded twice. | Send the SPC's own bytes, or encode them once. | app
            415 | HTTP 415, unsupported media type | The service takes another Content-Type. | A wrong Content-Type. | Set the Content-Type that the vendor documents. | app
            429 | HTTP 429, too many requests | The service limits requests. | Too many license requests in a short time. | Wait as Retry-After says. | app
            451 | HTTP 451, not in this region | The content may not be shown here. | The viewer's region. | Tell the viewer. | viewer
            500 | HTTP 500, server error | The service failed. | A fault of the service. / An SPC that it cannot open. | Report it to the vendor, with the request id if the service gave one. | service
            502 | HTTP 502, bad gateway | A server behind the service failed. | The service. | Try again. | service
            503 | HTTP 503, unavailable | The service is overloaded or down for a moment. | The service. | Wait as Retry-After says, then try again. | service
            504 | HTTP 504, gateway timeout | A server behind the service was too slow. | The service. | Try again. | service
            """),
        // The versions that key servers read from bytes that are not an SPC: the first four bytes as a number.
        table(
            .keyServer,
            """
            813827283 | a certificate read as an SPC | The received SPC begins like a certificate (30 82 04 d3). | The certificate's bytes were sent in place of the SPC. | Send the result of streamingContentKeyRequestData or makeStreamingContentKeyRequestData. | app
            1936745277 | “spc=” read as a version | The first four bytes of the received SPC are the text “spc=”. | A form body was stored or sent where the SPC's own bytes belong. | Take the value of the field spc, undo its URL encoding and its base64, and use the bytes. | app
            """),
        // Source: `Documentation/Players.md`; the published declarations of THEOplayer, read on 2026-11-22.
        table(
            .theoPlayer,
            """
            7000 | CONTENT_PROTECTION_ERROR | Content protection failed, for no stated reason. | The error of the integration's callback. | Log the error that the callback was given. | app
            7001 | CONTENT_PROTECTION_NOT_SUPPORTED | This platform does not have the DRM system. | A simulator, or a source for another DRM system. | Use a device and a FairPlay source. | app
            7002 | CONTENT_PROTECTION_CONFIGURATION_MISSING | The stream is protected and the source has no DRM configuration. | A source without drm. | Give the source its FairPlay configuration. | app
            7003 | CONTENT_PROTECTION_CONFIGURATION_INVALID | The source's DRM configuration is wrong. | A missing certificate or license URL, or an integration that is not registered. | Register the integration before the source is set, under the source's integration id. | app
            7004 | CONTENT_PROTECTION_INITIALIZATION_INVALID | The key's initialization data is unreadable. | A key tag that is not FairPlay's. | Look at the playlist with latchkey keys. | app
            7005 | CONTENT_PROTECTION_CERTIFICATE_ERROR | The certificate did not load. | A wrong certificate URL. | Open the certificate's URL. | app
            7006 | CONTENT_PROTECTION_CERTIFICATE_INVALID | The downloaded data is not a certificate. | A web page or PEM text. | latchkey inspect certificate FILE. | app
            7007 | CONTENT_PROTECTION_LICENSE_ERROR | The license request failed. | The service refused. | Look at the HTTP status that accompanies the error. | app
            7008 | CONTENT_PROTECTION_LICENSE_INVALID | The response is not a license. | A CKC that is still wrapped in base64, JSON or XML. | latchkey inspect ckc FILE. | app
            7009 | CONTENT_PROTECTION_KEY_EXPIRED | The key has expired. | A lease that was not renewed. | Renew earlier. | app
            7010 | CONTENT_PROTECTION_KEY_MISSING | There is no key for a track. | A license without that key. | Check the keys that the token covers. | app
            7011 | CONTENT_PROTECTION_OUTPUT_RESTRICTED | The display does not protect the picture enough. | The key's HDCP requirement. | Use another display, or lower the output policy. | app
            7012 | CONTENT_PROTECTION_INTERNAL_ERROR | The system's DRM failed. | The number in systemCode. | latchkey explain the systemCode. | app
            """),
        // Source: JW Player's iOS errors reference, read on 2026-11-22; for 70014 its iOS changelog, 4.28.2, read on 2026-11-29.
        table(
            .jwPlayer,
            """
            70014 | ad's page ended | A warning: the system ended the web page of an advertisement, and the player continued with the content. | Web content that iOS before 26.6 ends. | Look elsewhere: keys are not at fault. | apple
            102630 | no source | The playlist item has no source that this browser plays. | A FairPlay stream in a browser without FairPlay, or no HLS among the sources. | Give each browser a source and DRM that it has. | app
            230002 | no connection | The network connection was lost. | The viewer is offline. | Wait for the network. | app
            281000 | unknown player error | The player failed for no stated reason; often content protection. | A refused license, geoblocking or a signed URL that expired. | Look at the underlying error, and at the error of the content key delegate. | app
            281001 | failed to load media | The media did not load. | The playlist's URL. | Open the playlist's URL. | app
            """),
        // Source: www.vdocipher.com/docs/drm/player/license-errors, a stored copy whose end is cut off, read on 2026-11-29; codes of Widevine and
        // Android left out.
        table(
            .vdoCipher,
            """
            2011 | license not unwrapped | The license server could not unwrap the request. | A request that is not built as VdoCipher's sample builds it. | Compare the request with the vendor's sample. | app
            2012 | technology not supported | The license server does not support the requested technology. | A request for another DRM system. | Send the license URL of FairPlay an SPC. | app
            2013 | time expired | The license URL has expired. | A license URL that was made too early. | Make a license URL for each playback. | app
            2014 | domain not allowed | The page's domain may not play the content. | The account's list of domains. | Allow the domain at VdoCipher. | service
            2015 | address or region blocked | The viewer's address or region may not play the content. | The content's rules for regions. | Show the viewer that the content is not available there. | viewer
            2017 | token missing | The request has no authentication token. | An otp or playbackInfo that is empty. | Check the values that the app's server returned for both. | app
            2020 | license hash wrong | The hash of the license URL does not match. | A license URL that was changed on its way. | Use the license URL as the app's server made it. | app
            2023 | time expired | The license URL has expired. | A license URL that was made too early. | Make a license URL for each playback. | app
            2024 | license rules invalid | The license rules are not valid. | The JSON of licenseRules. | Correct licenseRules where the license URL is made. | app
            2025 | content id mismatch | The request is for other content than the license URL. | A license URL of another video. | Make a license URL for this video. | app
            2026 | content id unknown | The license server does not have the content. | A video that was never packaged with VdoCipher's keys. | Compare the content id with the packager's. | packager
            2027 | API key invalid | The key that made the license URL is not valid. | A key that was revoked or belongs to another account. | Make the license URL with a valid API key. | app
            2028 | license webhook failed | The license server asked the account's webhook and got no valid answer. | The account's own server. | Look at the webhook's log. | service
            """),
        // Source: expo/expo#37479.
        table(
            .expoVideo,
            """
            | ExpoVideo.DRMLoadException | The player's own loading of certificate or license failed; the text that says why is lost on its way. | A certificate or license URL, its header fields, or a refusal. | Record certificate and license: latchkey doctor --har FILE. | app | reported
            """),
        // Source: reports of apps that do not start, such as those behind diagnosis.md n37.
        table(
            .appEncryption,
            """
            -42110 | app not decrypted | The system could not decrypt an app's own code; no stream and no key is at fault. | A damaged or foreign copy of an app. | Install the app again. | viewer | reported
            """),
        // Source: shaka-project/shaka-player, lib/util/error.js, read on 2026-11-27.
        table(
            .shakaPlayer,
            """
            1001 | BAD_HTTP_STATUS | A request was answered with an error status. | The service or the CDN; inside 6007 or 6017 it is the license's or the certificate's. | Look at error.data[1], the status: latchkey explain HTTP 403. | app
            1002 | HTTP_ERROR | A request got no answer. | The network, or a reply without CORS fields. | Look at the browser's console for CORS. | app
            1003 | TIMEOUT | A request got no answer in time. | A slow service. | Measure the service with latchkey doctor. | app
            3016 | VIDEO_ERROR | The browser's media element failed. | The media, or a key or IV that does not open it: the browser does not say which. | Look at error.data[0], the MediaError's code: latchkey explain MediaError 3. | app
            4026 | HLS_KEYFORMATS_NOT_SUPPORTED | No key tag of the playlist is for this browser. | A stream without a FairPlay key tag, or another browser. | latchkey keys PLAYLIST. | app
            4032 | CONTENT_UNSUPPORTED_BY_BROWSER | The browser plays no rendition of the stream. | Codecs, or a key system that the browser lacks. | Look at the codecs and at drm.servers. | app
            4040 | HLS_MSE_ENCRYPTED_MP2T_NOT_SUPPORTED | Encrypted transport streams do not play by media source extensions. | Segments of type TS. | Package as fMP4, or let Safari play the playlist itself. | app
            4041 | HLS_MSE_ENCRYPTED_LEGACY_APPLE_MEDIA_KEYS_NOT_SUPPORTED | Apple's older key interface does not play by media source extensions. | The polyfill of the older interface. | Use the standard interface, or let Safari play the playlist itself. | app
            6000 | NO_RECOGNIZED_KEY_SYSTEMS | The stream is protected by no key system that is known. | Key tags of another system alone. | latchkey keys PLAYLIST. | app
            6001 | REQUESTED_KEY_SYSTEM_CONFIG_UNAVAILABLE | The browser has no such key system. | A browser without FairPlay. | Use Safari. | app
            6002 | FAILED_TO_CREATE_CDM | The browser has the key system and could not start it. | The browser's settings or state. | Look at error.data[0], the browser's words. | app
            6003 | FAILED_TO_ATTACH_TO_VIDEO | The keys could not be attached to the video element. | Another player that still holds the element. | Destroy the other player first. | app
            6004 | INVALID_SERVER_CERTIFICATE | The certificate was refused. | PEM, base64 or a web page. | latchkey inspect certificate FILE. | app
            6005 | FAILED_TO_CREATE_SESSION | The browser refused a key session. | The browser's limit of sessions. | Look at error.data[0], the browser's words. | app
            6006 | FAILED_TO_GENERATE_LICENSE_REQUEST | No SPC was made. | The certificate or the content id. | Check drm.advanced and the init data transform. | app
            6007 | LICENSE_REQUEST_FAILED | The license request failed. | The service refused. | Look at error.data[0], which has the HTTP status. | app
            6008 | LICENSE_RESPONSE_REJECTED | The browser refused the license. | A CKC that is still wrapped in base64, JSON or XML. | Unwrap it in a response filter. | app
            6010 | ENCRYPTED_CONTENT_WITHOUT_DRM_INFO | The stream is encrypted and does not say how. | Key tags are missing. | latchkey keys PLAYLIST. | app
            6012 | NO_LICENSE_SERVER_GIVEN | No license server is configured. | drm.servers. | Configure com.apple.fps in drm.servers. | app
            6013 | OFFLINE_SESSION_REMOVED | A stored key is gone. | The browser's data was cleared. | Store the content again. | app
            6014 | EXPIRED | All keys expired. | A lease that was not renewed. | Renew earlier. | app
            6015 | SERVER_CERTIFICATE_REQUIRED | FairPlay needs a certificate and there is none. | drm.advanced without serverCertificate. | Give serverCertificateUri. | app
            6016 | INIT_DATA_TRANSFORM_ERROR | The init data transform threw. | The app's own function. | Look at error.data[0]. | app
            6017 | SERVER_CERTIFICATE_REQUEST_FAILED | The certificate did not load. | A wrong certificate URL. | Open the certificate's URL. | app
            6018 | MIN_HDCP_VERSION_NOT_MATCH | The display's HDCP version is too low. | The configured minimum of HDCP. | Use another display, or lower minHdcpVersion. | app
            6019 | ERROR_CHECKING_HDCP_VERSION | The display's HDCP version could not be queried. | A browser that cannot report it. | Leave minHdcpVersion out. | app
            6020 | MISSING_EME_SUPPORT | The page has no encrypted media extensions. | A page without https. | Serve the page over https. | app
            9007 | NO_INIT_DATA_FOR_OFFLINE | The stream cannot be stored: nothing says which key it needs. | No initialization data in playlist and segments. | Play it online. | app
            """),
        // Source: docs.nagra.com, CONNECT Player SDK 5 for Android 5.32, SSM error codes; read on 2026-11-27. `Documentation/Players.md`.
        table(
            .openTV,
            """
            -1354 | SSM_TEARDOWN_FAILURE | A secure session did not close. | The service's code, which is in the extra. | Look the extra up: latchkey explain 1007. | app
            -1353 | SSM_RENEWAL_FAILURE | A secure session was not renewed. | The service's code, which is in the extra. | Look the extra up: latchkey explain 1007. | app
            -1352 | SSM_SETUP_FAILURE | A secure session did not open. | The service's code, which is in the extra. | Look the extra up: latchkey explain 1007. | app
            5004 | license error | The license was refused or did not come. | The delegate returned nil. | Look at OTVDRMLicenseError and at the license delegate's error. | app
            5007 | license error | The license was refused or did not come. | The license service. | Look at OTVDRMLicenseError. | app
            5022 | license error | The license was refused or did not come. | The license service. | Look at OTVDRMLicenseError. | app
            6001 | session set-up error | The secure session did not open. | The session URL, or the streams of the account. | Look at OTVSSMSetupErrorNotification. | app
            6002 | session tear-down error | The secure session did not close. | The network. | Show nothing. | app
            6003 | session heartbeat error | A heartbeat of the secure session was refused. | The session ended at the service. | Stop playback, and set the session up again. | app
            """),
        // Source: the published declarations of Bitmovin, read on 2026-11-22.
        table(
            .bitmovin,
            """
            2301 | DRM error | The DRM session failed. | The cause is in the event's message. | Read the event's message. | app
            2302 | DRM configuration missing | The source has no DRM configuration. | A source without drmConfig. | Give the source a FairplayConfig. | app
            2303 | license URL missing | No license URL is configured. | The FairplayConfig. | Give it the license URL. | app
            2306 | license request failed | The license service refused. | The token or the request's form. | Look at the HTTP status in the message. | app
            2307 | certificate request failed | The certificate did not load. | A wrong certificate URL. | Open the certificate's URL. | app
            2309 | certificate URL missing | No certificate URL is configured. | The FairplayConfig. | Give it the certificate URL. | app
            """),
        // Source: HTML, MediaError; read on 2026-11-27.
        table(
            .mediaElement,
            """
            1 | MEDIA_ERR_ABORTED | The viewer or the page ended the loading. | The page. | Show nothing. | app
            2 | MEDIA_ERR_NETWORK | The media stopped loading. | The network or the CDN. | Look at the requests; keys are seldom at fault. | app
            3 | MEDIA_ERR_DECODE | The media could not be decoded. | A key or IV that does not open it, or damaged media. | Look at the media: latchkey doctor. | app
            4 | MEDIA_ERR_SRC_NOT_SUPPORTED | The browser cannot play the URL's response. | A web page, a refusal, or a type that the browser lacks. | Open the stream's URL: latchkey keys URL. | app
            5 | MEDIA_ERR_ENCRYPTED | The media is encrypted and no key opens it; video.js and Mux add it. | A license or certificate that did not come. | Look at the error's message. | app
            """),
        // Source: muxinc/elements, packages/playback-core; read on 2026-11-27.
        table(
            .muxPlayer,
            """
            5 | MEDIA_ERR_ENCRYPTED | Key delivery failed. | No token, no key system, no SPC, a refused license or certificate, or a display without HDCP. | Look at muxCode, 5000001 to 5000006, or at the error's message. | app
            2403201 | NETWORK_TOKEN_MISSING | The request had no token. | No drm token given. | Give the player its drm token. | app
            2403210 | NETWORK_TOKEN_EXPIRED | The token has expired. | A token made too early. | Get a fresh token right before playback. | app
            2403221 | NETWORK_TOKEN_AUD_MISSING | The token does not say what it is for. | A token without aud. | Sign it with aud d. | app
            2403222 | NETWORK_TOKEN_AUD_MISMATCH | The token is for something else. | A token for playback in place of the one for keys. | Sign it with aud d. | app
            2403232 | NETWORK_TOKEN_SUB_MISMATCH | The token is for another playback id. | Tokens that were mixed up. | Sign one for this playback id. | app
            2412000 | NETWORK_NOT_READY | The asset is not ready yet. | It is still being prepared. | Try again later. | app
            2412202 | NETWORK_TOKEN_MALFORMED | The value is not a token. | A truncated token. | latchkey inspect token FILE. | app
            5000000 | ENCRYPTED_ERROR | Key delivery failed, for no stated reason. | The error's message may say more. | Look at the browser's console. | app
            5000001 | ENCRYPTED_UNSUPPORTED_KEY_SYSTEM | The browser has no such key system. | A browser without FairPlay. | Use Safari. | app
            5000002 | ENCRYPTED_GENERATE_REQUEST_FAILED | No SPC was made, or no drm token was given. | The certificate, or the missing token: both have this number. | Give the player its drm token first. | app
            5000003 | ENCRYPTED_UPDATE_LICENSE_FAILED | The browser refused the license. | The response is not a CKC, or is for another SPC. | latchkey inspect ckc FILE. | app
            5000004 | ENCRYPTED_UPDATE_SERVER_CERT_FAILED | The browser refused the certificate. | The response is not a certificate. | latchkey inspect certificate FILE. | app
            5000005 | ENCRYPTED_CDM_ERROR | The system's DRM failed. | The cause is in the accompanying number. | latchkey explain that number. | app
            5000006 | ENCRYPTED_OUTPUT_RESTRICTED | The display does not protect the picture enough. | The key's HDCP requirement. | Use another display, or lower the output policy. | app
            """),
        // Source: cdn.bitmovin.com/player/web/8/docs/enums/Core.ErrorCode.html, read on 2026-11-27.
        table(
            .bitmovinWeb,
            """
            1404 | NETWORK_FAILED_CERTIFICATE_REQUEST | The certificate did not load. | A wrong certificate URL. | Open the certificate's URL. | app
            2001 | DRM_MISSING_CONFIGURATION | The stream is FairPlay's and nothing is configured. | A source without drm.fairplay. | Give the source its drm.fairplay. | app
            2002 | DRM_NO_LICENSE_SERVER_URL_PROVIDED | No license URL is configured. | drm.fairplay without LA_URL. | Give LA_URL. | app
            2003 | DRM_FAILED_LICENSE_REQUEST | The license request failed. | The service refused, or the request is incomplete. | Look at the reply: its body says why. | app
            2006 | DRM_NO_KEY_SYSTEM | There is no key system for the stream. | A browser without FairPlay. | Use Safari. | app
            2007 | DRM_KEY_SESSION_INITIALIZATION_FAILED | No key session began. | The key's initialization data. | Look at prepareContentId. | app
            2008 | DRM_MEDIA_KEY_INITIALIZATION_FAILED | The keys could not be set up. | The browser's settings or state. | Look at the browser's console. | app
            2009 | DRM_KEY_ERROR | The system refused a key. | A license that is not a CKC, or is for another SPC. | latchkey inspect ckc FILE. | app
            2010 | DRM_KEY_SYSTEM_NOT_SUPPORTED | The browser has none of FairPlay's key systems. | Another browser, or a page without https. | Use Safari, and https. | app
            2011 | DRM_CERTIFICATE_ERROR | The certificate was refused or did not load. | A wrong URL, PEM, base64 or a web page. | latchkey inspect certificate FILE. | app
            2013 | DRM_RESTRICTED_OUTPUT | The display does not protect the picture enough. | The key's HDCP requirement. | Use another display, or lower the output policy. | app
            2015 | DRM_INIT_DATA_MISSING | Nothing says which key the stream needs. | Key tags are missing. | latchkey keys PLAYLIST. | app
            """),
        // Names alone. Source: video-dev/hls.js, src/errors.ts; read on 2026-11-27.
        table(
            .hlsJS,
            """
            | keySystemNoKeys | The browser made no keys object. | A browser without FairPlay. | Use Safari. | app
            | keySystemNoAccess | The browser gave no access to a key system. | emeEnabled or drmSystems is missing, or a page without https. | Set emeEnabled and drmSystems. | app
            | keySystemNoSession | A key session failed. | The initialization data, or the system's DRM. | Look at the error's data. | app
            | keySystemNoConfiguredLicense | No license URL is configured for the key system. | drmSystems without licenseUrl. | Give licenseUrl. | app
            | keySystemLicenseRequestFailed | The license request failed. | The service refused. | Look at the status of the reply. | app
            | keySystemServerCertificateRequestFailed | The certificate did not load. | A wrong serverCertificateUrl. | Open the certificate's URL. | app
            | keySystemServerCertificateUpdateFailed | The browser refused the certificate. | PEM, base64 or a web page. | latchkey inspect certificate FILE. | app
            | keySystemSessionUpdateFailed | The browser refused the license. | A CKC that is still wrapped in base64, JSON or XML. | Unwrap it in licenseResponseCallback. | app
            | keySystemStatusOutputRestricted | The display does not protect the picture enough. | The key's HDCP requirement. | Use another display, or lower the output policy. | app
            | keySystemStatusInternalError | The system's DRM failed. | The license, or the system. | Play the stream in Safari itself and look at its error. | app
            """),
        // Names alone. Source: videojs/videojs-contrib-eme, src/consts/errors.js; read on 2026-11-27.
        table(
            .contribEME,
            """
            | eme-failed-request-media-key-system-access | The browser gave no access to a key system. | A browser without FairPlay, or a page without https. | Use Safari, and https. | app
            | eme-failed-create-media-keys | The browser made no keys object. | The browser's settings or state. | Look at the browser's console. | app
            | eme-failed-attach-media-keys-to-video | The keys could not be attached to the video element. | Another player that still holds the element. | Dispose of the other player first. | app
            | eme-failed-create-media-key-session | The browser refused a key session. | The browser's limit of sessions. | Look at the browser's console. | app
            | eme-failed-set-server-certificate | The browser refused the certificate. | PEM, base64 or a web page. | latchkey inspect certificate FILE. | app
            | eme-failed-generate-license-request | No SPC was made. | The certificate or the content id. | Look at getContentId and the certificate. | app
            | eme-failed-update-session | The browser refused the license. | A CKC that is still wrapped in base64, JSON or XML. | Unwrap it in getLicense. | app
            | eme-failed-load-session | A stored key session did not load. | The browser's data was cleared. | Ask for the license again. | app
            """),
    ]
}
