extension FairPlayErrorExplanation {
    /// The numbers of FairPlay itself.
    static let fairPlay: [Self] = spc + license + storedKeys + output

    private static let spc: [Self] = [
        Self(
            -42669, "SPC not created or stale",
            "The system made no SPC, or took the license for one that came too late.",
            causes: [
                "The content identifier is empty.", "The license took longer than an SPC lives.",
                "A stuck state of iOS 18 to 26.2, after a day in the background or a failed AirPlay attempt.",
            ],
            try: [
                "Pass a content identifier of 2 to 200 bytes.", "Answer sooner; look at the time of each stage.",
                "Begin a new session; where that does not help, relaunch the app and update the system.",
            ], fixer: .app, isConfirmed: false),
        Self(
            -42672, "no certificate", "An SPC was wanted without an application certificate.",
            causes: ["The certificate's download gave no bytes."],
            try: ["Check the certificate's URL and that the reply is not empty."], fixer: .app),
        Self(
            -42673, "no content identifier", "An SPC was wanted without a content identifier.",
            causes: ["The rule for the identifier finds nothing in the key's URI."],
            try: ["Choose the content-id rule that fits the key URIs of the playlist."], fixer: .app),
        Self(
            -42674, "no versions", "The list of FPS versions is missing.",
            causes: ["A wrong value in the options of the SPC."], try: ["Leave the option out, or pass [1]."],
            fixer: .app
        ),
        Self(
            -42675, "bad content identifier", "The content identifier is not valid.",
            causes: ["It is empty, or longer than 200 bytes."],
            try: ["Pass 2 to 200 bytes; a whole license URL may be too long."], fixer: .app),
        Self(
            -42676, "SPC failed", "The system could not make the SPC.",
            causes: ["The certificate does not suit.", "The device's FairPlay state is damaged."],
            try: ["Try again with a new session.", "Check the certificate.", "Restart the device."], fixer: .app),
        Self(
            -42679, "bad certificate", "The application certificate is not valid.",
            causes: [
                "PEM or base64 in place of DER.", "An error page in place of the certificate.", "It has expired.",
            ],
            try: [
                "Look at the first bytes: DER begins with 30 82.", "Get the file anew from the certificate's owner.",
            ],
            fixer: .app),
        Self(
            -42681, "bad versions", "The list of FPS versions is not valid.",
            causes: ["A wrong value in the options of the SPC."], try: ["Leave the option out, or pass [1]."],
            fixer: .app
        ),
        Self(
            -42709, "SPC failed for now", "An SPC was not made; seen on iOS 18.2.1 and 18.3.1.",
            causes: ["Not known."], try: ["Try once more with a new session, then report it."], fixer: .apple,
            isConfirmed: false),
        Self(
            -42783, "certificate revoked", "The application certificate may be revoked.",
            causes: ["Apple revoked it.", "It is a test certificate that ended."],
            try: ["Ask the certificate's owner."], fixer: .certificateOwner),
    ]

    private static let license: [Self] = [
        Self(
            -42650, "undocumented", "Not documented; it lies among FairPlay's numbers for SPCs and licenses.",
            causes: ["Not known."],
            try: ["Look at the error above it.", "Inspect SPC and CKC: latchkey inspect spc FILE."], fixer: .app,
            isConfirmed: false),
        Self(
            -42605, "certificate not found", "The key server does not hold the certificate that the SPC was made for.",
            causes: ["The app has another certificate than the key server.", "The SPC was changed on its way."],
            try: [
                "Compare the certificate's SHA-1 with the one in the SPC: latchkey inspect spc FILE.",
                "Ship the key server's present certificate in the app.",
            ], fixer: .certificateOwner, isConfirmed: false),
        Self(
            -42580, "server version", "The key server could not read the SPC's version.",
            causes: ["The certificate was sent in the place of the SPC."],
            try: ["Send the SPC's bytes, as the service wants them."],
            fixer: .app, isConfirmed: false),
        Self(
            -42656, "lease ended", "The key's lease is over.",
            causes: ["The renewal came too late, or from a cache.", "The device's clock is wrong."],
            try: ["Renew earlier.", "Check that renewals bypass every cache."], fixer: .app),
        Self(
            -42668, "bad CKC", "What came as a CKC is none, or not for this SPC.",
            causes: [
                "It is still base64, JSON or XML.", "An error page came with status 200.",
                "The service has another ASk than the certificate's.", "It answers another SPC.",
            ],
            try: [
                "Compare the reply with the profile's rule for the license.", "Make one exchange per request.",
                "Have the service check its ASk and its D function.",
            ], fixer: .app),
        Self(
            -19152, "key does not fit", "A key was given for another track than the one that wanted it.",
            causes: [
                "Several keys share one content identifier.", "A request was answered with another one's license.",
            ],
            try: [
                "Choose a content-id rule that tells the keys of a stream apart.",
                "Answer each request with its own license.",
            ],
            fixer: .app, isConfirmed: false),
    ]

    private static let storedKeys: [Self] = [
        Self(
            -42799, "stored key too old", "The stored key has a form that the system takes no more.",
            causes: ["A security update."], try: ["Drop the stored key and get a new one."], fixer: .app),
        Self(
            -42800, "stored key expired", "The stored key's time is over; also seen with external displays.",
            causes: ["The storage or playback window ended."], try: ["Ask the service for a new one; it decides."],
            fixer: .service),
        Self(
            -42803, "bad stored key", "The stored key is not valid.",
            causes: [
                "A CKC was stored in place of the persistable key.", "It belongs to another device or installation.",
            ],
            try: ["Drop it and get a new one."], fixer: .app),
        Self(
            -46250, "no secure token", "A secure token for a stored key could not be made.",
            causes: ["Not known; the stored key may be bad."], try: ["Use the dates that the service gave."],
            fixer: .app,
            isConfirmed: false),
    ]

    private static let output: [Self] = [
        Self(
            1_212_433_232, "HDCP", "The display does not protect the picture as far as the key demands.",
            causes: ["A display, adapter or recording without HDCP."],
            try: ["Use another display or cable.", "Lower the key's output policy."], fixer: .viewer),
        Self(
            -19156, "output not protected", "Protected output failed; seen with HDMI adapters since iOS 18.",
            causes: ["The adapter."], try: ["Use another adapter.", "Lower the HDCP type that the key demands."],
            fixer: .viewer, isConfirmed: false),
        Self(
            -12035, "output not protected", "Protected output failed; seen with HDMI adapters since iOS 18.",
            causes: ["The adapter."], try: ["Use another adapter.", "Lower the HDCP type that the key demands."],
            fixer: .viewer, isConfirmed: false),
    ]
}
