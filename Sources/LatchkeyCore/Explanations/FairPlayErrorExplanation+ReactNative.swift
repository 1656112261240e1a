extension FairPlayErrorExplanation {
    /// The errors of react-native-video, whose domain is `RCTVideo`.
    ///
    /// Source: TheWidlarzGroup/react-native-video, ios/Video/Features/RCTVideoErrorHandling.swift, read on 2026-11-27; issue 4518 for
    /// the negative number. Older versions number them from 0, in another order.
    static let reactNativeVideo: [Self] =
        errors.map { code, name, meaning, cause, remedy in
            player(.reactNativeVideo, code, name, meaning, cause, remedy)
        } + [
            Self(
                -1000, "fromJSPart",
                "The app's getLicense failed, or nobody answered for the key; -1000 is seen, 1000 is written.",
                causes: ["The words beside it, which are the app's own."],
                try: ["Look at getLicense: what it is given, and that it returns the license."], fixer: .app,
                isConfirmed: false, domain: .reactNativeVideo)
        ]

    private static let errors: [(Int, String, String, String, String)] = [
        (
            1000, "fromJSPart", "The app's getLicense failed.", "The words beside it, which are the app's own.",
            "Look at getLicense."
        ),
        (
            1001, "noLicenseServerURL", "No license URL is given.", "drm without licenseServer.",
            "Give drm.licenseServer."
        ),
        (
            1002, "licenseRequestFailed", "The license request was refused.",
            "The service; the status is in the words.",
            "latchkey explain HTTP and the status."
        ),
        (
            1003, "noDataFromLicenseRequest", "The reply to the license request is empty.",
            "The service, or a getLicense that returns nothing.",
            "Look at the reply."
        ),
        (
            1004, "noSPC", "No SPC was made.", "The certificate or the content id.",
            "Check drm.certificateUrl and drm.contentId."
        ),
        (
            1005, "noCertificateData", "The certificate's reply is empty.", "A wrong certificate URL.",
            "Open the certificate's URL."
        ),
        (
            1006, "noCertificateURL", "No certificate URL is given.", "drm without certificateUrl.",
            "Give drm.certificateUrl."
        ),
        (
            1007, "noDRMData", "The stream is protected and drm is missing.", "A source without drm.",
            "Give the source its drm."
        ),
        (
            1008, "invalidContentId", "The content id is not usable.", "drm.contentId, or a key URI without one.",
            "latchkey keys PLAYLIST."
        ),
        (
            1009, "invalidAppCert", "The certificate is none.", "PEM, base64 without base64Certificate, or a web page.",
            "latchkey inspect certificate FILE."
        ),
        (1010, "keyRequestCreationFailed", "No key request could be made.", "The key URI.", "latchkey keys PLAYLIST."),
        (
            1011, "persistableKeyRequestFailed", "No request for a key to store could be made.",
            "A place that takes no stored keys, such as AirPlay.", "Play online there."
        ),
        (
            1012, "embeddedKeyExtractionFailed", "The key in the app's own scheme was not found.",
            "localSourceEncryptionKeyScheme does not fit the key URI.", "Compare the scheme with the playlist's."
        ),
        (
            1013, "offlineDRMNotSupported", "The player stores no FairPlay keys.", "Playback of stored content.",
            "Play online, or store keys beside the player."
        ),
        (1014, "unsupportedDRMType", "The DRM type is not FairPlay.", "drm.type.", "Set drm.type to fairplay."),
        (1015, "simulatorDRMNotSupported", "The simulator has no FairPlay.", "The simulator.", "Use a device."),
    ]
}
