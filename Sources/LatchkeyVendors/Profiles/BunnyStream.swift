import LatchkeyCore

/// Bunny Stream with MediaCage Enterprise DRM.
///
/// Source: docs.bunny.net/stream/players/fairplay and docs.bunny.net/docs/stream-embed-token-authentication, read on
/// 22 November 2026. The video in the license URL chooses the key. If a library requires tokens, `token` and
/// `expires` are in both URLs; the customer's server makes them as for the embedded player. The page passes Safari's
/// initialization data on unchanged, so that the key URI names the key in the SPC.
extension VendorProfile {
    /// Bunny Stream.
    package static let bunnyStream = VendorProfile(
        identifier: "bunny-stream", name: "Bunny Stream",
        parameters: [
            .setting("libraryId", "id of the video library", required: true, example: "759"),
            .setting(
                "videoId", "id of the video", required: true, example: "eb1c4f77-0cda-46be-b47d-1118ad7c2ffe"),
            .certificateURL(
                "address of the certificate, where it is not the library's",
                example: "https://video.bunnycdn.com/FairPlay/759/certificate"),
            .licenseURL(
                "address of the license service, where it is not the library's",
                example: "https://video.bunnycdn.com/FairPlay/759/license/"),
            .token(
                "embed view token, hexadecimal digits, where the library asks for one", required: false,
                example: "5a5de480db5d14ed30717a3e849c7148a998fa42b0c267774756558e2de99eee"),
            .credential(
                "expires", "when the token ends, in seconds since 1970; goes with the token", required: false,
                example: "1893456000"),
        ],
        contentIdentifierRule: .wholeURI,
        certificate: .fetched(
            RequestRule(
                url: URLRule(
                    .firstOf([.certificateURL, .template("\(bunnyLibrary)/certificate")]), bunnyToken)),
            .der),
        license: RequestRule(
            method: "POST",
            url: URLRule(
                .firstOf([.licenseURL, .template("\(bunnyLibrary)/license/")]),
                [.addQueryIfAbsent(name: "videoId", value: .setting("videoId"))] + bunnyToken),
            body: .json(["spc": .rule(.spc)])),
        decoder: .json(["ckc"]), hosts: ["video.bunnycdn.com"],
        evidence: ProfileEvidence(.documented, read: "2026-11-22", "docs.bunny.net/stream/players/fairplay"))

    private static let bunnyLibrary = "https://video.bunnycdn.com/FairPlay/{libraryId}"
    private static let bunnyToken: [URLRule.Change] = [
        .setQuery(name: "token", value: .token),
        .setQuery(name: "expires", value: .credential("expires")),
    ]
}
