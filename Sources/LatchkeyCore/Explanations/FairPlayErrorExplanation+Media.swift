extension FairPlayErrorExplanation {
    /// The numbers of CoreMedia and of the URL loading system that look like key errors, or hide one.
    static let media: [Self] =
        [
            Self(
                1_718_449_215, "fmt?", "The media could not be decoded.",
                causes: [
                    "The content key or IV is wrong.", "The format or encryption scheme is not supported.",
                    "The simulator, which has no FairPlay.",
                ],
                try: [
                    "Play with the clear key (KEYFORMAT identity) to tell key from packaging, as TN2454 says.",
                    "Compare key and IV of packager and service.", "Use a device.",
                ], fixer: .packager),
            Self(
                -1002, "unsupported URL", "Nobody claimed the key's URL.",
                causes: ["The asset loaded before it was protected.", "The simulator."],
                try: ["Protect the asset before its player item is made.", "Use a device."], fixer: .app, domain: .url),
            Self(
                -12889, "response too late", "A playlist or segment came too late.",
                causes: ["The network or the CDN."], try: ["Look at the CDN; keys are not at fault."], fixer: .packager,
                isConfirmed: false),
            Self(
                -12927, "media not playable", "Undocumented; the player gave up on the stream.",
                causes: ["A segment or playlist that the player cannot use.", "A refused request before it."],
                try: ["Read AVPlayerItem.errorLog(); the first entry tells which request it was."], fixer: .packager,
                isConfirmed: false),
        ] + lowLatency + pointers + unhandled + statuses + playlists + reported

    private static let lowLatency = [
        Self(
            -15517, "key not found", "Seen with low-latency HLS; the player misses an entry that it expects.",
            causes: ["A playlist that lacks what low latency needs.", "A warning alone, if playback goes on."],
            try: ["Check EXT-X-RENDITION-REPORT, EXT-X-PART and EXT-X-PRELOAD-HINT of the media playlists."],
            fixer: .packager, isConfirmed: false),
        Self(
            -15418, "no rendition report", "The player leaves the low-latency mode.",
            causes: ["A media playlist without EXT-X-RENDITION-REPORT."],
            try: ["Give each low-latency playlist a report of every other one."], fixer: .packager,
            isConfirmed: false),
    ]

    private static let pointers = [-15622, -15628].map { code in
        Self(
            code, "see the error log", "A summary of errors before it.", causes: ["The first entry of the error log."],
            try: ["Read the first entry of AVPlayerItem.errorLog()."], fixer: .app)
    }

    private static let unhandled = [-17383, -12936].map { code in
        Self(
            code, "URL not handled", "A request for a custom URL was not handled.",
            causes: ["The simulator.", "No delegate queue."],
            try: ["Use a device.", "Check the delegate and its queue."],
            fixer: .app, isConfirmed: false)
    }

    private static let statuses = [
        (-12660, "HTTP 403"), (-12937, "HTTP 401 or 407"), (-12938, "HTTP 404"), (-12666, "HTTP 4xx or 5xx"),
    ].map { (code, name) in
        Self(
            code, name, "A playlist or segment was refused.", causes: ["The CDN's token or address."],
            try: ["Check the authorization of the stream; the license is not at fault."], fixer: .packager)
    }

    private static let playlists = [
        (-12884, "file not received"), (-12888, "live playlist unchanged"), (-12646, "playlist not readable"),
    ].map { (code, name) in
        Self(
            code, name, "The stream itself is at fault.", causes: ["Packaging or the CDN."],
            try: ["Look at the playlists: latchkey keys URL."], fixer: .packager)
    }

    // Sources: error texts in jhomlala/betterplayer#437 (-16845), yichengchen/ATV-Bilibili-demo#35 (-16839), kingslay/KSPlayer#4 (-12939),
    // VeinGuo/VGPlayer#65 (-12881) and windows7lake/flutter_video_caching#30 (-12642); read on 2026-11-27.
    private static let reported = [
        Self(
            -12642, "playlist parse error",
            "A playlist could not be used; two texts are seen: playlist parse error, no matching media.",
            causes: [
                "A playlist that breaks the rules of HLS, or is a web page.",
                "A byte-range stream whose server ignores the header Range and answers 200.",
            ],
            try: [
                "Look at the playlists: latchkey keys URL.",
                "Ask the server for a range: it has to answer 206 with that range alone.",
            ], fixer: .packager),
        Self(
            -12880, "no rendition left", "The player removed rendition after rendition, and none is left.",
            causes: ["Each rendition failed: its playlist, media or key did not come."],
            try: ["Read AVPlayerItem.errorLog(): each entry names a request that failed."], fixer: .packager,
            isConfirmed: false),
        Self(
            -12881, "custom URL not redirected", "A URL of the app's own scheme got no answer that the player can use.",
            causes: ["A resource loader that answers media itself; it may redirect only."],
            try: ["Have the resource loader redirect to http, or leave the scheme alone."], fixer: .app,
            isConfirmed: false),
        Self(
            -12939, "byte range without length", "A reply to a range lacks its length.",
            causes: ["A server that ignores Range and answers 200 without Content-Length."],
            try: ["Have the server answer 206 with Content-Range and Content-Length."], fixer: .packager,
            isConfirmed: false),
        Self(
            -16839, "playlist too late", "A playlist did not come before the player's timer ended.",
            causes: ["The network or the CDN."], try: ["Look at the CDN; keys are not at fault."], fixer: .packager,
            isConfirmed: false),
        Self(
            -16845, "HTTP 400", "A playlist or segment was answered with status 400.",
            causes: ["The CDN's token or address."],
            try: ["Check the authorization of the stream; the license is not at fault."], fixer: .packager,
            isConfirmed: false),
    ]
}
