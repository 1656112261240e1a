extension FairPlayErrorExplanation {
    /// The numbers of `AVError` that concern keys.
    static let avFoundation: [Self] =
        errors.map { row in
            Self(
                row.code, row.name, row.meaning, causes: [row.cause], try: [row.remedy], fixer: row.fixer,
                domain: .avFoundation)
        } + [
            Self(
                -11867, "noLongerPlayable", "Something that playback needs did not come: a playlist, media or a key.",
                causes: [
                    "Playlists, media or keys timed out, or were refused with 4xx.",
                    "A lease or the content's time is over.",
                ],
                try: [
                    "Look at the underlying error and at AVPlayerItem.errorLog(), which name the request.",
                    "If the request is the key's, look at the error that the key request ended with.",
                ], fixer: .app, domain: .avFoundation)
        ]

    private typealias Row = (code: Int, name: String, meaning: String, cause: String, remedy: String, fixer: Fixer)

    private static let errors: [Row] = [
        (
            -11800, "unknown", "Something below AVFoundation failed.", "The error below this one.",
            "Look at the underlying error.", .app
        ),
        (
            -11819, "mediaServicesWereReset", "The system's media services ended; the session is of no use any more.",
            "A fault of the system, or too little memory.", "Rebuild the session, the asset and the item.", .app
        ),
        (
            -11828, "fileFormatNotRecognized", "What the URL gave is no media and no playlist that AVFoundation knows.",
            "A web page, or an address that leads elsewhere.", "Open the stream's URL: latchkey keys URL.", .packager
        ),
        (
            -11831, "contentIsProtected", "The content is protected and there is no key for it.",
            "Nobody gave the key.", "Protect the asset before it loads.", .app
        ),
        (
            -11835, "contentIsNotAuthorized", "The key was refused.",
            "The service refused, or the certificate is not accepted.", "Look at the error of the key request.",
            .service
        ),
        (
            -11836, "applicationIsNotAuthorized", "This app may not play the content.",
            "The certificate or an entitlement does not suit the app.", "Check the certificate's format and URL.", .app
        ),
        (
            -11850, "serverIncorrectlyConfigured", "The server did not do what AVFoundation expects.",
            "A playlist or its server; often a key error behind it.", "Look at the error log of the item.", .packager
        ),
        (
            -11853, "failedToParse", "A playlist or media file could not be parsed.",
            "A playlist that breaks the rules of HLS.", "Look at the playlist: latchkey keys URL.", .packager
        ),
        (
            -11857, "airPlayReceiverRequiresInternet", "The AirPlay receiver has no internet.",
            "The receiver gets its keys itself.", "Connect the receiver.", .viewer
        ),
        (
            -11860, "createContentKeyRequestFailed", "No SPC could be made.",
            "The certificate or the content identifier.", "Look at the underlying error.", .app
        ),
        (
            -11863, "contentIsUnavailable", "The content is not available any more.", "It expired or was removed.",
            "Get the content and its key anew.", .app
        ),
        (
            -11866, "contentNotUpdated", "The live stream is not updated any more.",
            "The packager or the CDN gives the same playlist again and again.",
            "Look at the live playlist; keys are not at fault.",
            .packager
        ),
        (
            -11868, "noCompatibleAlternatesForExternalDisplay", "No rendition suits the external display.",
            "Every rendition demands more protection than the display has.",
            "Offer a rendition with a lower output policy.", .packager
        ),
        (
            -11870, "externalPlaybackNotSupportedForAsset", "The content does not play on other displays.",
            "The key's policy, or a stored key.", "Switch to an online key for other displays.", .app
        ),
        (-11878, "operationCancelled", "The operation was cancelled.", "The player moved on.", "Show nothing.", .app),
        (
            -11879, "contentKeyRequestCancelled", "The key request was cancelled.", "The player moved on.",
            "Show nothing.", .app
        ),
        (
            -11882, "airPlayReceiverTemporarilyUnavailable", "The AirPlay receiver cannot play now.",
            "The receiver is busy or unreachable.", "Try again.", .viewer
        ),
        (
            -11888, "deviceIdentifierRandomizationUnsupported", "The destination takes no random device identifier.",
            "The option of version 26 is set.", "Ask again without randomization.", .app
        ),
        (
            -11889, "contentKeyInvalid", "The content key is not valid.", "It was revoked or replaced.",
            "Ask for the key again.", .app
        ),
    ]
}
