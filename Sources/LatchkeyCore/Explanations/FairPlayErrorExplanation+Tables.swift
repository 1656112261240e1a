extension FairPlayErrorExplanation {
    /// The numbers of `AVError` that concern keys.
    static let avFoundation = table(
        .avFoundation,
        """
        -11889 | contentKeyInvalid | The content key is not valid. | It was revoked or replaced. | Ask for the key again. | app
        -11888 | deviceIdentifierRandomizationUnsupported | The destination takes no random device identifier. | The option of version 26 is set. | Ask again without randomization. | app
        -11882 | airPlayReceiverTemporarilyUnavailable | The AirPlay receiver cannot play now. | The receiver is busy or unreachable. | Try again. | viewer
        -11879 | contentKeyRequestCancelled | The key request was cancelled. | The player moved on. | Show nothing. | app
        -11878 | operationCancelled | The operation was cancelled. | The player moved on. | Show nothing. | app
        -11870 | externalPlaybackNotSupportedForAsset | The content does not play on other displays. | The key's policy, or a stored key. | Switch to an online key for other displays. | app
        -11868 | noCompatibleAlternatesForExternalDisplay | No rendition suits the external display. | Every rendition demands more protection than the display has. | Offer a rendition with a lower output policy. | packager
        -11867 | noLongerPlayable | Something that playback needs did not come: a playlist, media or a key. | Playlists, media or keys timed out, or were refused with 4xx. / A lease or the content's time is over. | Look at the underlying error and at AVPlayerItem.errorLog(), which name the request. / If the request is the key's, look at the error that the key request ended with. | app
        -11866 | contentNotUpdated | The live stream is not updated any more. | The packager or the CDN gives the same playlist again and again. | Look at the live playlist; keys are not at fault. | packager
        -11863 | contentIsUnavailable | The content is not available any more. | It expired or was removed. | Get the content and its key again. | app
        -11860 | createContentKeyRequestFailed | No SPC could be made. | The certificate or the content identifier. | Look at the underlying error. | app
        -11857 | airPlayReceiverRequiresInternet | The AirPlay receiver has no internet. | The receiver gets its keys itself. | Connect the receiver. | viewer
        -11853 | failedToParse | A playlist or media file could not be parsed. | A playlist that breaks the rules of HLS. | Look at the playlist: latchkey keys URL. | packager
        -11850 | serverIncorrectlyConfigured | The server did not do what AVFoundation expects. | A playlist or its server; often a key error behind it. | Look at the error log of the item. | packager
        -11836 | applicationIsNotAuthorized | This app may not play the content. | The certificate or an entitlement does not suit the app. | Check the certificate's format and URL. | app
        -11835 | contentIsNotAuthorized | The key was refused. | The service refused, or the certificate is not accepted. | Look at the error of the key request. | service
        -11831 | contentIsProtected | The content is protected and there is no key for it. | No key was delivered. | Protect the asset before it loads. | app
        -11828 | fileFormatNotRecognized | The URL's response is neither media nor a playlist that AVFoundation knows. | A web page, or an address that leads elsewhere. | Open the stream's URL: latchkey keys URL. | packager
        -11819 | mediaServicesWereReset | The system's media services ended; the session is no longer usable. | A fault of the system, or too little memory. | Rebuild the session, the asset and the item. | app
        -11800 | unknown | Something below AVFoundation failed. | The error below this one. | Look at the underlying error. | app
        """)

    /// The numbers of FairPlay and CoreMedia: key errors, and numbers that look like key errors or hide one.
    ///
    /// Sources of the texts: jhomlala/betterplayer#437 (-16845), yichengchen/ATV-Bilibili-demo#35 (-16839), kingslay/KSPlayer#4 (-12939),
    /// VeinGuo/VGPlayer#65 (-12881) and windows7lake/flutter_video_caching#30 (-12642); read on 2026-11-27.
    static let system = table(
        .system,
        """
        -46250 | no secure token | A secure token for a stored key could not be made. | Not known; the stored key may be bad. | Use the dates that the service gave. | app | reported
        -42803 | bad stored key | The stored key is not valid. | A CKC was stored in place of the persistable key. / It belongs to another device or installation. | Drop it and get a new one. | app
        -42800 | stored key expired | The stored key's time is over; also seen with external displays. | The storage or playback window ended. | Ask the service for a new one; it decides. | service
        -42799 | stored key too old | The system no longer accepts the stored key's format. | A security update. | Drop the stored key and get a new one. | app
        -42783 | certificate revoked | The application certificate may be revoked. | Apple revoked it. / It is a test certificate that ended. | Ask the certificate's owner. | certificateOwner
        -42709 | SPC failed for now | An SPC was not made; seen on iOS 18.2.1 and 18.3.1. | Not known. | Try once more with a new session, then report it. | apple | reported
        -42681 | bad versions | The list of FPS versions is not valid. | A wrong value in the options of the SPC. | Leave the option out, or pass [1]. | app
        -42679 | bad certificate | The application certificate is not valid. | PEM or base64 in place of DER. / An error page in place of the certificate. / It has expired. | Look at the first bytes: DER begins with 30 82. / Get the file again from the certificate's owner. | app
        -42676 | SPC failed | The system could not make the SPC. | The certificate does not suit. / The device's FairPlay state is damaged. | Try again with a new session. / Check the certificate. / Restart the device. | app
        -42675 | bad content identifier | The content identifier is not valid. | It is empty, or longer than 200 bytes. | Pass 2 to 200 bytes; a whole license URL may be too long. | app
        -42674 | no versions | The list of FPS versions is missing. | A wrong value in the options of the SPC. | Leave the option out, or pass [1]. | app
        -42673 | no content identifier | An SPC was requested without a content identifier. | The rule for the identifier finds nothing in the key's URI. | Choose the content-id rule that fits the key URIs of the playlist. | app
        -42672 | no certificate | An SPC was requested without an application certificate. | The certificate's download gave no bytes. | Check the certificate's URL and that the reply is not empty. | app
        -42669 | SPC not created or stale | The system made no SPC, or took the license for one that came too late. | The content identifier is empty. / The license took longer than an SPC lives. / A stuck state of iOS 18 to 26.2, after a day in the background or a failed AirPlay attempt. | Pass a content identifier of 2 to 200 bytes. / Answer sooner; look at the time of each stage. / Begin a new session; where that does not help, relaunch the app and update the system. | app | reported
        -42668 | bad CKC | The response is not a CKC, or is for another SPC. | It is still base64, JSON or XML. / An error page came with status 200. / The service has another ASk than the certificate's. / It answers another SPC. | Compare the reply with the profile's rule for the license. / Make one exchange per request. / Have the service check its ASk and its D function. | app
        -42656 | lease ended | The key's lease is over. | The renewal came too late, or from a cache. / The device's clock is wrong. | Renew earlier. / Check that renewals bypass every cache. | app
        -42650 | undocumented | Not documented; it lies among FairPlay's numbers for SPCs and licenses. | Not known. | Look at the error above it. / Inspect SPC and CKC: latchkey inspect spc FILE. | app | reported
        -42605 | certificate not found | The key server does not hold the certificate that the SPC was made for. | The app has another certificate than the key server. / The SPC was changed on its way. | Compare the certificate's SHA-1 with the one in the SPC: latchkey inspect spc FILE. / Ship the key server's present certificate in the app. | certificateOwner | reported
        -42580 | server version | The key server could not read the SPC's version. | The certificate was sent in place of the SPC. | Send the SPC's bytes, as the service wants them. | app | reported
        -19156 | output not protected | Protected output failed; seen with HDMI adapters since iOS 18. | The adapter. | Use another adapter. / Lower the HDCP type that the key demands. | viewer | reported
        -19152 | key does not fit | The key that a track got belongs to another track. | Several keys share one content identifier. / A request was answered with another request's license. | Choose a content-id rule that distinguishes the keys of a stream. / Answer each request with its own license. | app | reported
        -17383 | URL not handled | A request for a custom URL was not handled. | The simulator. / No delegate queue. | Use a device. / Check the delegate and its queue. | app | reported
        -16845 | HTTP 400 | A playlist or segment was answered with status 400. | The CDN's token or address. | Check the authorization of the stream; the license is not at fault. | packager | reported
        -16839 | playlist too late | A playlist did not come before the player's timer ended. | The network or the CDN. | Look at the CDN; keys are not at fault. | packager | reported
        -15628 | see the error log | A summary of errors before it. | The first entry of the error log. | Read the first entry of AVPlayerItem.errorLog(). | app
        -15622 | see the error log | A summary of errors before it. | The first entry of the error log. | Read the first entry of AVPlayerItem.errorLog(). | app
        -15517 | key not found | Seen with low-latency HLS; the player misses an entry that it expects. | A playlist without the tags that low latency needs. / Only a warning, if playback continues. | Check EXT-X-RENDITION-REPORT, EXT-X-PART and EXT-X-PRELOAD-HINT of the media playlists. | packager | reported
        -15418 | no rendition report | The player leaves the low-latency mode. | A media playlist without EXT-X-RENDITION-REPORT. | Give each low-latency playlist a report of every other one. | packager | reported
        -12939 | byte range without length | A reply to a range lacks its length. | A server that ignores Range and answers 200 without Content-Length. | Have the server answer 206 with Content-Range and Content-Length. | packager | reported
        -12938 | HTTP 404 | A playlist or segment was refused. | The CDN's token or address. | Check the authorization of the stream; the license is not at fault. | packager
        -12937 | HTTP 401 or 407 | A playlist or segment was refused. | The CDN's token or address. | Check the authorization of the stream; the license is not at fault. | packager
        -12936 | URL not handled | A request for a custom URL was not handled. | The simulator. / No delegate queue. | Use a device. / Check the delegate and its queue. | app | reported
        -12927 | media not playable | Undocumented; the player gave up on the stream. | A segment or playlist that the player cannot use. / A refused request before it. | Read AVPlayerItem.errorLog(); the first entry names the request. | packager | reported
        -12889 | response too late | A playlist or segment came too late. | The network or the CDN. | Look at the CDN; keys are not at fault. | packager | reported
        -12888 | live playlist unchanged | The stream itself is at fault. | Packaging or the CDN. | Look at the playlists: latchkey keys URL. | packager
        -12884 | file not received | The stream itself is at fault. | Packaging or the CDN. | Look at the playlists: latchkey keys URL. | packager
        -12881 | custom URL not redirected | A URL of the app's own scheme got no answer that the player can use. | A resource loader that answers media itself; it may redirect only. | Have the resource loader redirect to http, or leave the scheme alone. | app | reported
        -12880 | no rendition left | The player removed rendition after rendition, and none is left. | Each rendition failed: its playlist, media or key did not come. | Read AVPlayerItem.errorLog(): each entry names a request that failed. | packager | reported
        -12666 | HTTP 4xx or 5xx | A playlist or segment was refused. | The CDN's token or address. | Check the authorization of the stream; the license is not at fault. | packager
        -12660 | HTTP 403 | A playlist or segment was refused. | The CDN's token or address. | Check the authorization of the stream; the license is not at fault. | packager
        -12646 | playlist not readable | The stream itself is at fault. | Packaging or the CDN. | Look at the playlists: latchkey keys URL. | packager
        -12642 | playlist parse error | A playlist could not be used; two texts are seen: playlist parse error, no matching media. | A playlist that breaks the rules of HLS, or is a web page. / A byte-range stream whose server ignores the header Range and answers 200. | Look at the playlists: latchkey keys URL. / Ask the server for a range: it has to answer 206 with that range alone. | packager
        -12035 | output not protected | Protected output failed; seen with HDMI adapters since iOS 18. | The adapter. | Use another adapter. / Lower the HDCP type that the key demands. | viewer | reported
        1212433232 | HDCP | The display does not protect the picture as far as the key demands. | A display, adapter or recording without HDCP. | Use another display or cable. / Lower the key's output policy. | viewer
        1718449215 | fmt? | The media could not be decoded. | The content key or IV is wrong. / The format or encryption scheme is not supported. / The simulator, which has no FairPlay. | Play with the clear key (KEYFORMAT identity) to tell key from packaging, as TN2454 says. / Compare key and IV of packager and service. / Use a device. | packager
        """)

    /// The numbers of the URL loading system for failed requests for certificates, licenses and media.
    static let urlLoading = table(
        .url,
        """
        -1203 | serverCertificateHasUnknownRoot | The root of the server's TLS certificate is unknown. | A private authority. | Install the authority on the device, or use a public one. | service
        -1202 | serverCertificateUntrusted | The server's TLS certificate is not from an authority that the device trusts. | A self-signed certificate, or a proxy that reads the traffic. | Use a certificate of a public authority. | service
        -1201 | serverCertificateHasBadDate | The server's TLS certificate is out of date. | It expired, or the device's clock is wrong. | Renew it; check the clock. | service
        -1200 | secureConnectionFailed | No TLS connection could be made. | A server without TLS at this port, or with an old protocol. | Check the port and the server's TLS. | service
        -1103 | dataLengthExceedsMaximum | The reply is larger than allowed. | A wrong URL. | Check the URL. | app
        -1100 | fileDoesNotExist | The file is not there. | A wrong file URL. | Check the path. | app
        -1022 | appTransportSecurityRequiresSecureConnection | The system refuses http without TLS. | A certificate or license URL with http. | Use https URLs. | app
        -1013 | userAuthenticationRequired | The server wants a sign-in. | A missing or expired token. | Send a fresh token. | app
        -1012 | userCancelledAuthentication | The server asked for a sign-in and got none. | A 401 without a token. | Send the token. | app
        -1011 | badServerResponse | The server's reply makes no sense. | The service or a proxy before it. | Look at the reply. | service
        -1009 | notConnectedToInternet | The device has no network, or the request may not use it. | The viewer is offline, or a downloaded title lacks the requested file. | Play stored keys, or wait for the network. Where the error names a .movpkg, download the title again. | viewer
        -1008 | resourceUnavailable | The resource is unavailable now. | The service. | Try again later. | service
        -1007 | httpTooManyRedirects | The server redirects too often. | Two addresses that redirect to each other. | Configure the URL that is redirected to. | service
        -1006 | dnsLookupFailed | The name server gave no answer. | The network's name server. | Check the network. | viewer
        -1005 | networkConnectionLost | The connection ended before the reply did. | The network, or a server that closes idle connections. | Try again once. | service
        -1004 | cannotConnectToHost | The server takes no connections. | The service is down, or the port is wrong. | Check host and port. | service
        -1003 | cannotFindHost | The host's name is not known. | A misspelled host. | Check the URL's host. | app
        -1002 | unsupported URL | No handler claimed the key's URL. | The asset loaded before it was protected. / The simulator. | Protect the asset before its player item is made. / Use a device. | app
        -1001 | timedOut | The server did not answer in time. | A slow or silent service. | Measure the service with latchkey doctor; raise the timeout only then. | service
        -1000 | badURL | The URL is malformed. | Blanks or brackets in a URL. | Escape the URL's parts. | app
        -999 | cancelled | The request was cancelled. | The player moved on. | Show nothing. | app
        """)

    /// The errors of react-native-video. Older versions number them from 0, in another order.
    ///
    /// Source: TheWidlarzGroup/react-native-video, ios/Video/Features/RCTVideoErrorHandling.swift, read on 2026-11-27; issue 4518 for
    /// the negative number.
    static let reactNative = table(
        .reactNativeVideo,
        """
        -1000 | fromJSPart | The app's getLicense failed, or the key request got no answer; -1000 is observed, 1000 is in the source. | The error's message, which the app wrote, has the cause. | Check the parameters of getLicense, and that it returns the license. | app | reported
        1000 | fromJSPart | The app's getLicense failed. | The error's message, which the app wrote, has the cause. | Look at getLicense. | app
        1001 | noLicenseServerURL | No license URL is given. | drm without licenseServer. | Give drm.licenseServer. | app
        1002 | licenseRequestFailed | The license request was refused. | The service; the status is in the words. | latchkey explain HTTP and the status. | app
        1003 | noDataFromLicenseRequest | The reply to the license request is empty. | The service, or a getLicense that returns nothing. | Look at the reply. | app
        1004 | noSPC | No SPC was made. | The certificate or the content id. | Check drm.certificateUrl and drm.contentId. | app
        1005 | noCertificateData | The certificate's reply is empty. | A wrong certificate URL. | Open the certificate's URL. | app
        1006 | noCertificateURL | No certificate URL is given. | drm without certificateUrl. | Give drm.certificateUrl. | app
        1007 | noDRMData | The stream is protected and drm is missing. | A source without drm. | Give the source its drm. | app
        1008 | invalidContentId | The content id is not usable. | drm.contentId, or a key URI without one. | latchkey keys PLAYLIST. | app
        1009 | invalidAppCert | The data is not a certificate. | PEM, base64 without base64Certificate, or a web page. | latchkey inspect certificate FILE. | app
        1010 | keyRequestCreationFailed | No key request could be made. | The key URI. | latchkey keys PLAYLIST. | app
        1011 | persistableKeyRequestFailed | No request for a key to store could be made. | A place that takes no stored keys, such as AirPlay. | Play online there. | app
        1012 | embeddedKeyExtractionFailed | The key in the app's own scheme was not found. | localSourceEncryptionKeyScheme does not fit the key URI. | Compare the scheme with the playlist's. | app
        1013 | offlineDRMNotSupported | The player stores no FairPlay keys. | Playback of stored content. | Play online, or store keys outside the player. | app
        1014 | unsupportedDRMType | The DRM type is not FairPlay. | drm.type. | Set drm.type to fairplay. | app
        1015 | simulatorDRMNotSupported | The simulator has no FairPlay. | The simulator. | Use a device. | app
        """)
}
