import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// Errors as people posted them, with other names and ids, and their explanations. n02 to n12 are the inputs of the report.
@Suite(.timeLimit(.minutes(2))) struct ExplainedLogTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let title: String
        let log: String
        /// `domain number` of each explanation, in order.
        let expected: [String]
        /// Parts of the answer for people.
        var words: [String] = []
        /// A part that the answer must not have.
        var without: String?
        /// A part of the text on standard error.
        var note: String?

        var testDescription: String { title }

        init(
            _ title: String, _ log: String, _ expected: [String], words: [String] = [], without: String? = nil,
            note: String? = nil
        ) {
            (self.title, self.log, self.expected, self.words) = (title, log, expected, words)
            (self.without, self.note) = (without, note)
        }
    }

    @Test(arguments: reported + evidence + domains + underlying + forms + neighbors + players + unknown)
    func `each number in a log is explained by its domain and the text around it`(_ one: Case) async throws {
        let input = Data(one.log.utf8)
        let run = await RecordedRun(["explain", "--json", "-"], tool: .standard, input: input)
        let json = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]] ?? []
        let found = json.map { "\($0["domain"] ?? "") \($0["number"] ?? "")" }
        #expect(found == one.expected)
        if let note = one.note { #expect((run.error + run.output).contains(note)) } else { #expect(run.error.isEmpty) }
        let told = await RecordedRun(["explain", "-"], tool: .standard, input: input)
        for part in one.words { #expect(told.output.contains(part)) }
        if let part = one.without { #expect(!told.output.contains(part)) }
    }

    private static let reported = [
        Case(
            "n02",
            "mediaplaybackd keyboss ckb_customURLReadCallback: 0x7fa62f800 60/0 isComplete 1 err -19156 error (0)",
            ["system -19156"], words: ["HDMI"]),
        Case(
            "n03",
            """
            Error Domain=NSURLErrorDomain Code=-1009 "The Internet connection appears to be offline." UserInfo={NSUnderlyingError=0x1 \
            {Error Domain=NSURLErrorDomain Code=-1009 "offline"}, NSErrorFailingURLStringKey=file:///private/var/Movie_9DD4.movpkg/, \
            AVErrorFailedDependenciesKey=( "assetProperty_HLSAlternates" )}
            """, ["url -1009"], words: ["downloaded title", "the network is not at fault"]),
        Case(
            "n04", #"{"domain":"AVFoundationErrorDomain","localizedDescription":"Cannot Open","code":-11835}"#,
            ["avFoundation -11835"], words: ["The key was refused."]),
        Case(
            "n05",
            """
            Error Domain=AVFoundationErrorDomain Code=-11867 "See -[AVPlayerItem errorLog] for 2 events" UserInfo={\
            NSUnderlyingError=0x6 {Error Domain=CoreMediaErrorDomain Code=-12880 "Can not proceed after removing variants"}, \
            NSLocalizedFailureReason=Could not download required resources.}
            """, ["avFoundation -11867", "system -12880"], words: ["no lease ended", "no rendition left"]),
        Case(
            "n07", "(CoreMediaErrorDomain error -12642 - playlist parse error.", ["system -12642"],
            words: ["cannot be parsed", "Range"]),
        Case(
            "n09",
            #"{"error":{"code":-1000,"domain":"RCTVideo","localizedDescription":"Loading request for licenseUrl skd://x/getckc not found"}}"#,
            ["reactNativeVideo -1000"], words: ["getLicense", "from reports"]),
        Case(
            "n10",
            #"[Error] Error code - 3016 - "object" - {severity: 2, category: 3, code: 3016, data: [3, undefined]}"#,
            ["shakaPlayer 3016"], words: ["Shaka Player", "MediaError"]),
        Case(
            "n11", "Mux Error:\nError: Code 5\nFailed to generate a DRM license request.", ["muxPlayer 5"],
            words: ["5000002", "AirPlay"]),
        Case(
            "n12",
            "Error - Domain[CoreMediaErrorDomain]:Code[-15628]:Desc[It failed]:Underlying Error Domain[(null)]:Code[0]",
            ["system -15628"], words: ["first entry"]),
    ]

    /// The logs of diagnosis.md.
    private static let evidence = [
        Case(
            "n30 VidLoader#37",
            "item failed: Error Domain=CoreMediaErrorDomain Code=-12865 \"(null)\"; asset file:///var/Library/Title_01.movpkg",
            [],
            note: "Store a bookmark, not the path"),
        Case(
            "n32 HLSDownloader#1",
            "Error Domain=AVFoundationErrorDomain Code=-11800 UserInfo={NSLocalizedFailureReason=An unknown error occurred (-12780), key=(\"BackgroundAVAssetDownloadTask <00>\")}",
            ["avFoundation -11800"], words: ["It is a download's"], note: "Nothing is known of -12780"),
        Case(
            "n33 notes#182",
            "uri=https://cdn.example.com/hd/7.ts status=-16840 domain=CoreMediaErrorDomain comment=HTTP 401: Unauthorized",
            [],
            note: "HTTP 401"),
        Case(
            "n34 zap-stream-core#98",
            "CoreMediaErrorDomain -12642: #EXT-X-PART Partial Segment duration 0.501000 exceeds PART-TARGET\nCoreMediaErrorDomain -12642: Playlist parse error",
            ["system -12642"], words: ["longer than the playlist's PART-TARGET"], without: "names the line"),
        Case(
            "n35 expo#37479",
            "Failed to load the player item: (ExpoVideo.DRMLoadException error 1 - The operation couldn’t be completed.)",
            ["expoVideo 0"], words: ["certificate or license failed"]),
        Case(
            "n36 bitmovin-ios-samples#31",
            "Error Domain=NSURLErrorDomain Code=-1009 UserInfo={NSErrorFailingURLKey=https://licensing.bitmovin.com/licensing}",
            ["url -1009"], words: ["its own license"], without: "Play stored keys"),
        Case(
            "n37", "kernel[0]: AppleFairplayTextCrypterSession::fairplayOpen() failed, error -42110",
            ["appEncryption -42110"], words: ["no stream and no key"]),
        Case(
            "S21, a vendor known by name", "VdoCipher license error 2013", ["vdoCipher 2013"],
            words: ["for each playback"]),
        Case(
            "S21, a player's warning", "JWPlayer ad warning 70014", ["jwPlayer 70014"],
            words: ["keys are not at fault"]),
        Case("n38 jwplayer#3713", "This video file cannot be played.\n(Error Code: 102630)", ["jwPlayer 102630"]),
        Case(
            "a segment of the stream", "NSURLErrorDomain Code=-1001 \"timed out\" https://cdn.example.com/v/7.m4s",
            ["url -1001"], words: ["The URL is a segment's"]),
        Case(
            "a family", "Error Domain=CoreMediaErrorDomain Code=-12999", [], note: "CoreMedia's numbers for playlists"),
        Case("years and ids are no numbers", "2026-12780 id 4f2a-42110-11 took -16840ms", [], note: "No number"),
    ]

    private static let domains = [
        Case(
            "another domain's number", "Error Domain=NSURLErrorDomain Code=-42656", [],
            note: "-42656 of NSURLErrorDomain"),
        Case(
            "the number before its domain", #"{"code":-1009,"domain":"AVFoundationErrorDomain"}"#, [],
            note: "in other domains it is notConnectedToInternet"),
        Case(
            "a foreign error over a known one",
            "Error Domain=VidLoader Code=-1009 {Error Domain=CoreMediaErrorDomain Code=-42803}", ["system -42803"],
            note: "-1009 of VidLoader"),
        Case("CoreMedia hands it on", "CoreMediaErrorDomain error -1008", ["url -1008"]),
    ]

    private static let underlying = [
        Case(
            "a refused media file below",
            "Error Domain=AVFoundationErrorDomain Code=-11867 {Error Domain=CoreMediaErrorDomain Code=-12938}",
            ["avFoundation -11867", "system -12938"]),
        Case(
            "a lease below",
            "Error Domain=AVFoundationErrorDomain Code=-11867 {Error Domain=NSOSStatusErrorDomain Code=-42656}",
            ["avFoundation -11867", "system -42656"]),
        Case(
            "a number below that nobody knows",
            "Error Domain=AVFoundationErrorDomain Code=-11800 {Error Domain=NSOSStatusErrorDomain Code=-16777}",
            ["avFoundation -11800"], note: "-16777 of NSOSStatusErrorDomain"),
        Case(
            "two below one",
            "AVFoundationErrorDomain Code=-11835 {NSMultipleUnderlyingErrorsKey=(NSURLErrorDomain Code=-1001, CoreMediaErrorDomain Code=-15628)}",
            ["avFoundation -11835", "url -1001", "system -15628"]),
    ]

    private static let forms = [
        Case("the daemon's words", "mediaplaybackd ckb_processError: 0x7 handler 4 err -12035", ["system -12035"]),
        Case("a raw line", "FigCPECryptor signalled err=-42800 at <>:1", ["system -42800"]),
        Case("an error log's entry", "errorStatusCode: -12660, errorDomain: CoreMediaErrorDomain", ["system -12660"]),
        Case("JSON of another bridge", #"{"errorCode":-1200,"errorDomain":"NSURLErrorDomain"}"#, ["url -1200"]),
        Case("brackets", "Domain[AVFoundationErrorDomain]:Code[-11850]", ["avFoundation -11850"]),
        Case(
            "a number with no words of its cause", "CoreMediaErrorDomain error -12642", ["system -12642"],
            without: "Here"),
    ]

    private static let neighbors = [
        Case(
            "offline without a file", "Error Domain=NSURLErrorDomain Code=-1009 https://cdn.example/a.m3u8",
            ["url -1009"],
            without: "Here"),
        Case(
            "a file far behind another error",
            "NSURLErrorDomain Code=-1009 " + String(repeating: "word ", count: 80) + "Movie.movpkg", ["url -1009"],
            without: "Here"),
        Case(
            "a title that lacks its keys", "NSURLErrorDomain Code=-1009 URL=file:///a/Title.movpkg/boot.xml",
            ["url -1009"],
            words: ["Download it again"]),
    ]

    private static let players = [
        Case(
            "rnv of today", #"{"code":1002,"domain":"RCTVideo","localizedDescription":"403"}"#,
            ["reactNativeVideo 1002"]),
        Case("Shaka's license", "{severity: 2, category: 6, code: 6007, data: [..]}", ["shakaPlayer 6007"]),
        Case("video.js", "VIDEOJS: ERROR: (CODE:4 MEDIA_ERR_SRC_NOT_SUPPORTED)", ["mediaElement 4"]),
        Case(
            "hls.js", "hlsError keySystemError keySystemLicenseRequestFailed fatal true", ["hlsJS 0"], words: ["hls.js"]
        ),
        Case("contrib-eme", "errorType: eme-failed-update-session, keySystem com.apple.fps", ["contribEME 0"]),
        Case("Bitmovin in a browser", "Bitmovin error 2011", ["bitmovinWeb 2011"]),
        Case("a severity of something else", "severity high, code 6007", []),
    ]

    private static let unknown = [
        Case(
            "an unknown number", "Error Domain=CoreMediaErrorDomain Code=-99999", [],
            note: "-99999 of CoreMediaErrorDomain"),
        Case(
            "an unknown domain", "Error Domain=NSCocoaErrorDomain Code=-1009", [], note: "-1009 of NSCocoaErrorDomain"),
        Case(
            "the unknown beside the known", "CoreMediaErrorDomain Code=-99999, then CoreMediaErrorDomain Code=-12660",
            ["system -12660"], note: "-99999 of CoreMediaErrorDomain"),
    ]

    @Test(arguments: [
        ("Shaka 9999", "Nothing is known of 9999 of Shaka"),
        ("NSCocoaErrorDomain -1009", "-1009 of NSCocoaErrorDomain"),
        ("THEO 3016", "in other domains it is VIDEO_ERROR"),
    ])
    func `a number that its domain lacks is called unknown`(text: String, words: String) async {
        let run = await RecordedRun("explain", text)
        #expect(run.status == .no && run.error.contains(words))
    }

    @Test func `a bare number lists its meanings, by player`() async {
        let run = await RecordedRun("explain", "2011")
        #expect(run.output.contains("DRM_CERTIFICATE_ERROR, Bitmovin Player for browsers"))
        let shared = await RecordedRun("explain", "6001")
        #expect(shared.output.contains("Shaka Player") && shared.output.contains("NAGRA OpenTV Player"))
    }
}
