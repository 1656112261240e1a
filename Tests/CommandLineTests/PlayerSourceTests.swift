import Foundation
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// The source that an app gives its player, as each player takes it.
@Suite(.timeLimit(.minutes(5))) struct PlayerSourceTests {
    private static let certificate = "https://cdn.acme.example/fairplay.cer"
    private static let license = "https://drm-fairplay-licensing.axprod.net/AcquireLicense"

    /// One stream of Axinom's, as the players' documentation writes sources.
    private static let axinom = [
        """
        {"sources": [{"src": "https://cdn.acme.example/master.m3u8", "type": "application/x-mpegurl", "contentProtection": {
          "integration": "axinom", "integrationParameters": {"token": "SECRET-TOKEN", "extra": 1},
          "fairplay": {"licenseAcquisitionURL": "\(license)", "certificateURL": "\(certificate)"}}}]}
        """,
        """
        {"playlist": [{"sources": [{"file": "https://cdn.acme.example/master.m3u8", "drm": {
          "widevine": {"url": "https://drm-widevine-licensing.axprod.net/AcquireLicense"},
          "fairplay": {"processSpcUrl": "\(license)", "certificateUrl": "\(certificate)",
            "licenseRequestHeaders": [{"name": "X-AxDRM-Message", "value": "SECRET-TOKEN"}, {"name": "extra", "value": "1"}]}}}]}]}
        """,
        """
        {"hls": "https://cdn.acme.example/master.m3u8", "drm": {"fairplay": {"LA_URL": "\(license)",
          "certificateURL": "\(certificate)", "headers": {"X-AxDRM-Message": "SECRET-TOKEN", "extra": "1"}}}}
        """,
        """
        {"uri": "https://cdn.acme.example/master.m3u8", "drm": {"type": "fairplay", "licenseServer": "\(license)",
          "certificateUrl": "\(certificate)", "headers": {"X-AxDRM-Message": "SECRET-TOKEN", "extra": "1"}}}
        """,
        """
        {"drm": {"servers": {"com.apple.fps": "\(license)", "com.widevine.alpha": "https://widevine.example/"},
          "advanced": {"com.apple.fps": {"serverCertificateUri": "\(certificate)",
            "headers": {"X-AxDRM-Message": "SECRET-TOKEN", "extra": "1"}}}}}
        """,
    ]

    private func identify(_ words: String..., input: String = "") async -> RecordedRun {
        await RecordedRun(["vendors", "identify"] + words, tool: .standard, input: Data(input.utf8))
    }

    @Test(arguments: axinom)
    func `each player's source gives its vendor, settings, unknown names, and the same in Swift`(
        _ source: String
    ) async throws {
        let run = await identify("-", input: source)
        #expect(run.status == .yes && run.output.hasPrefix("certain: Axinom"), "\(run.output)\(run.error)")
        for line in [
            "The source, for axinom:", "  certificateURL: \(Self.certificate)", "  licenseURL: \(Self.license)",
            "  token: given; ask for a fresh one for each request", "  extra: unknown to the profile",
            #"  guard let vendor = try VendorProfile.named("axinom")?.configured(["#,
            #"      "licenseURL": "\#(Self.license)","#,
        ] { #expect(run.output.contains(line + "\n"), "\(line)\n\(run.output)") }
        #expect(!run.output.contains("SECRET-TOKEN") && !run.output.contains("missing"))
        let json = await identify("--json", "-", input: source).json["source"] as? [String: Any]
        #expect(json?["unknown"] as? [String] == ["extra"] && json?["credentials"] as? [String] == ["token"])
    }

    @Test func `a required value that the source lacks is named`() async {
        let source = #"{"drm": {"integration": "verimatrix", "fairplay": {"certificateURL": "\#(Self.certificate)"}}}"#
        let run = await identify("-", input: source)
        #expect(run.output.contains("  licenseURL: missing, and required\n"), "\(run.output)")
    }

    @Test func `a Mux playback URL is a source`() async {
        let run = await identify("https://stream.mux.com/PLAYBACK-1.m3u8?token=SECRET-A&drm_token=SECRET-B")
        #expect(run.output.hasPrefix("certain: Mux (mux"), "\(run.output)\(run.error)")
        #expect(run.output.contains("  playbackId: PLAYBACK-1\n") && run.output.contains("  token: given"))
        #expect(!run.output.contains("SECRET"))
    }

    @Test(arguments: [
        "{}", "[1]", #"{"log": {"entries": [], "licenseUrl": "https://a.example/"}}"#,
        #"{"url": "https://a.example/"}"#,
        #"{"drm": {"widevine": {"licenseUrl": "https://a.example/"}}}"#,
    ])
    func `other JSON is not a source`(json: String) {
        #expect(PlayerSource(Data(json.utf8)) == nil)
    }

    @Test func `play, doctor and wire take a source in place of a vendor and its settings`() async throws {
        let folder = try TemporaryFolder()
        try Data(Self.axinom[2].utf8).write(to: folder.file("source.json"))
        let run = await RecordedRun(
            [
                "wire", "request", "--source", folder.path("source.json"), "--key-uri", "skd://movie-1",
                "--spc", folder.path("source.json"),
            ], tool: .standard)
        #expect(run.output.contains("POST \(Self.license)"), "\(run.output)\(run.error)")
        #expect(!run.output.contains("SECRET-TOKEN"))
        let other = await RecordedRun(["play", "--source", folder.path("missing.json")], tool: .standard)
        #expect(other.status != .yes && other.error.contains("missing.json"))
        try Data("{}".utf8).write(to: folder.file("none.json"))
        let none = await RecordedRun(["play", "--source", folder.path("none.json")], tool: .standard)
        #expect(none.error.contains("is not a player's source with FairPlay"), "\(none.error)")
    }
}
