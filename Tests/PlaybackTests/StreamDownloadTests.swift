import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct StreamDownloadTests {
    private static let videoPaths = ["v/init.mp4", "v/1.m4s", "v/2.m4s", "v/3.m4s"]
    private static let key =
        #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://demo/video",KEYFORMAT="com.apple.streamingkeydelivery""#

    private static func mediaPlaylist(_ lines: [String], end: String = "#EXT-X-ENDLIST") -> String {
        (["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-TARGETDURATION:2"] + lines + [end]).joined(separator: "\n") + "\n"
    }

    private static let video = mediaPlaylist(
        [#"#EXT-X-MAP:URI="v/init.mp4""#, key] + (1...3).flatMap { ["#EXTINF:2,", "v/\($0).m4s"] })

    private static func copy(
        _ resources: MemoryResources, _ path: String = "video.m3u8", limits: DownloadLimits = DownloadLimits(),
        choosing choice: VariantChoice = .highestBandwidth, in folder: TemporaryFolder? = nil
    ) async throws -> LocalCopy {
        let folder = try folder ?? TemporaryFolder()
        return try await StreamDownload(resources, limits: limits, choosing: choice)
            .copy(MemoryResources.address(path), into: folder.url)
    }

    @Test(arguments: DemoAsset.allCases)
    func `a stream is downloaded and plays, with nothing left behind`(asset: DemoAsset) async throws {
        let folder = try TemporaryFolder()
        let result = try await StreamPlayer(FFmpeg(), temporaryFolder: folder.url)
            .play(asset.playlist, StreamDownload(FileResources()), keys: DemoAsset.contentKeys())
        let verdict = try result.verdict(against: DemoAsset.reference())
        #expect(verdict.isRight)
        #expect(verdict.tracks.map(\.samples?.matching) == (asset == .twoKeys ? [150, 283] : [150]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    @Test func `nothing stays behind when a key is missing`() async throws {
        let folder = try TemporaryFolder()
        let player = StreamPlayer(try FFmpeg(), temporaryFolder: folder.url)
        let code = await errorCode {
            try await player.play(DemoAsset.twoKeys.playlist, StreamDownload(FileResources()), keys: [:])
        }
        #expect(code == "keyMissing")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    }

    @Test func `a requested folder keeps everything`() async throws {
        let folder = try TemporaryFolder()
        let kept = folder.url.appending(path: "kept")
        _ = try await StreamPlayer(FFmpeg()).play(
            DemoAsset.transportStream.playlist, StreamDownload(FileResources()), keys: DemoAsset.contentKeys(),
            keeping: kept)
        let names = try FileManager.default.contentsOfDirectory(atPath: kept.path)
        #expect(names.contains("main-run-0.key.bin") && names.contains("main-0.ts"))
        #expect(try FileManager.default.attributesOfItem(atPath: kept.path)[.posixPermissions] as? Int == 0o700)
    }

    @Test func `keys are listed by first use, FairPlay before other systems`() async throws {
        let other = #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="data:x",KEYFORMAT="urn:uuid:edef8ba9""#
        let list = Self.mediaPlaylist([
            #"#EXT-X-MAP:URI="v/init.mp4""#, "#EXTINF:2,", "v/1.m4s", other, Self.key, "#EXTINF:2,", "v/2.m4s",
        ])
        let copy = try await Self.copy(
            MemoryResources(playlists: ["video.m3u8": list], media: Array(Self.videoPaths.prefix(3))))
        #expect(copy.keyURIs == ["skd://demo/video"])
        #expect(copy.tracks.first?.segments.map(\.keyURIs) == [[], ["skd://demo/video", "data:x"]])
        #expect(copy.tracks.first?.segments.map(\.method) == [nil, .samples])
    }

    @Test func `an init section is loaded once however many segments need it`() async throws {
        let resources = try MemoryResources(playlists: ["video.m3u8": Self.video], media: Self.videoPaths)
        let copy = try await Self.copy(resources)
        #expect(resources.requests.sorted() == (Self.videoPaths + ["video.m3u8"]).sorted())
        #expect(Set(copy.tracks[0].segments.map(\.initialization)).count == 1)
        #expect(copy.isComplete)
    }

    @Test func `byte ranges of one file become files and play`() async throws {
        let parts = try Self.videoPaths.map {
            try Data(contentsOf: DemoAsset.twoKeys.directory.appending(path: $0))
        }
        let (lengths, file) = (parts.map(\.count), parts.reduce(Data(), +))
        let list = Self.mediaPlaylist(
            [#"#EXT-X-MAP:URI="v.mp4",BYTERANGE="\#(lengths[0])@0""#, Self.key, "#EXTINF:2,"]
                + ["#EXT-X-BYTERANGE:\(lengths[1])@\(lengths[0])", "v.mp4"]
                + lengths[2...].flatMap { ["#EXTINF:2,", "#EXT-X-BYTERANGE:\($0)", "v.mp4"] })
        let resources = MemoryResources(["video.m3u8": Data(list.utf8), "v.mp4": file])
        let result = try await StreamPlayer(FFmpeg()).play(
            MemoryResources.address("video.m3u8"), StreamDownload(resources), keys: DemoAsset.contentKeys())
        #expect(try result.verdict(against: DemoAsset.reference()).isRight)
    }

    @Test func `a range that the server cuts short is refused`() async throws {
        let list = Self.mediaPlaylist(["#EXTINF:2,", "#EXT-X-BYTERANGE:9999999@10", "v/1.m4s"])
        let resources = try MemoryResources(playlists: ["video.m3u8": list], media: ["v/1.m4s"])
        #expect(await errorCode { try await Self.copy(resources) } == "resourceMissing")
    }

    @Test func `references are resolved against the redirected address, with imported variables`() async throws {
        let master = """
            #EXTM3U
            #EXT-X-DEFINE:NAME="folder",VALUE="v"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            old/video.m3u8

            """
        let list = Self.mediaPlaylist([
            #"#EXT-X-DEFINE:IMPORT="folder""#, #"#EXT-X-MAP:URI="../{$folder}/init.mp4""#, "#EXTINF:2,", "../v/1.m4s",
        ])
        var files = ["master.m3u8": Data(master.utf8), "moved/here/video.m3u8": Data(list.utf8)]
        for path in Self.videoPaths {
            files["moved/\(path)"] = try Data(contentsOf: DemoAsset.twoKeys.directory.appending(path: path))
        }
        let resources = MemoryResources(files, redirects: ["old/video.m3u8": "moved/here/video.m3u8"])
        let copy = try await Self.copy(resources, "master.m3u8")
        #expect(copy.tracks.map(\.segments.count) == [1])
    }

    @Test(arguments: [
        (VariantChoice.highestBandwidth, "high.m3u8"), (.lowestBandwidth, "low.m3u8"),
        (.upTo(bitsPerSecond: 250), "middle.m3u8"), (.upTo(bitsPerSecond: 50), "low.m3u8"),
    ])
    func `a variant is chosen by its bandwidth`(choice: VariantChoice, path: String) async throws {
        var master = "#EXTM3U\n"
        for (name, rate) in [("middle", 200), ("high", 300), ("high-again", 300), ("low", 100), ("low-again", 100)] {
            master += "#EXT-X-STREAM-INF:BANDWIDTH=\(rate)\n\(name).m3u8\n"
        }
        let resources = try MemoryResources(playlists: ["master.m3u8": master])
        await #expect(throws: MemoryResourceMissing(path: path)) {
            try await Self.copy(resources, "master.m3u8", choosing: choice)
        }
    }

    @Test(arguments: [
        ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nmaster.m3u8\n", "malformedPlaylist"),
        ("#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"b\",URI=\"c\"\n", "emptyStream"),
        ("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-ENDLIST\n", "emptyStream"),
        ("<html>Not found</html>", "missingHeader"),
        ("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nmaster.m3u8\n", "unsupportedContainer"),
        (
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=MAGIC,URI=\"k\"\n#EXTINF:2,\nv/1.m4s\n",
            "malformedPlaylist"
        ),
    ])
    func `streams that cannot be played are refused`(playlist: String, code: String) async throws {
        let resources = try MemoryResources(playlists: ["master.m3u8": playlist], media: ["v/1.m4s"])
        #expect(await errorCode { try await Self.copy(resources, "master.m3u8") } == code)
    }

    @Test(arguments: ["file:///etc/passwd", "file:/etc/passwd", "FILE:///etc/passwd", "skd://x/y", "data:,x"])
    func `a playlist from the network leads only to the network`(target: String) async throws {
        let list = Self.mediaPlaylist(["#EXTINF:2,", target])
        let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(target)\n"
        let resources = try MemoryResources(playlists: ["video.m3u8": list, "master.m3u8": master])
        #expect(await errorCode { try await Self.copy(resources) } == "schemeNotAllowed")
        #expect(await errorCode { try await Self.copy(resources, "master.m3u8") } == "schemeNotAllowed")
        #expect(resources.requests == ["video.m3u8", "master.m3u8"])
    }

    @Test(arguments: DemoAsset.allCases)
    func `key discovery over the same resources finds the keys needed to play`(asset: DemoAsset) async throws {
        let files = PlaylistFetcher {
            let file = try await FileResources().resource(at: $0, range: nil, limit: DownloadLimits().playlistBytes)
            return FetchedPlaylist(bytes: file.bytes, uri: file.address)
        }
        let found = try await KeyDiscovery(files).keys(at: asset.playlist)
        let folder = try TemporaryFolder()
        let copy = try await StreamDownload(FileResources()).copy(asset.playlist, into: folder.url)
        #expect(Set(found.fairPlayURIs) == Set(copy.keyURIs))
    }

    @Test func `segments wrapped in different ways are refused`() async throws {
        let list = Self.mediaPlaylist(["#EXTINF:2,", "v/1.m4s", "#EXTINF:2,", "1.ts"])
        let stream = try Data(contentsOf: DemoAsset.transportStream.directory.appending(path: "v/1.ts"))
        let fragment = try Data(contentsOf: DemoAsset.twoKeys.directory.appending(path: "v/1.m4s"))
        let resources = MemoryResources(["video.m3u8": Data(list.utf8), "v/1.m4s": fragment, "1.ts": stream])
        #expect(await errorCode { try await Self.copy(resources) } == "malformedPlaylist")
    }

    @Test func `errors of the resources are passed on`() async throws {
        let resources = try MemoryResources(playlists: ["video.m3u8": Self.video], media: ["v/init.mp4"])
        await #expect(throws: MemoryResourceMissing.self) { try await Self.copy(resources) }
    }

    @Test func `a stream beyond the segment limit is cut off, and its part is judged`() async throws {
        let resources = try MemoryResources(playlists: ["video.m3u8": Self.video], media: Self.videoPaths)
        var limits = DownloadLimits()
        limits.segments = 2
        let result = try await StreamPlayer(FFmpeg()).play(
            MemoryResources.address("video.m3u8"), StreamDownload(resources, limits: limits),
            keys: DemoAsset.contentKeys())
        let verdict = try result.verdict(against: DemoAsset.reference())
        #expect(!result.isComplete)
        #expect(verdict.isRight)
        #expect(verdict.tracks.first?.samples?.found == 100)
    }

    private static let smallLimits: [DownloadLimits] = {
        var limits = Array(repeating: DownloadLimits(), count: 3)
        limits[0].playlistBytes = 200
        limits[1].resourceBytes = 300
        limits[2].totalBytes = 300
        return limits
    }()

    @Test(arguments: smallLimits)
    func `bytes beyond a limit are refused`(limits: DownloadLimits) async throws {
        let resources = try MemoryResources(playlists: ["video.m3u8": Self.video], media: Self.videoPaths)
        #expect(await errorCode { try await Self.copy(resources, limits: limits) } == "resourceTooLarge")
    }

    @Test(arguments: [1, 3])
    func `concurrent requests do not exceed the limit`(concurrency: Int) async throws {
        let resources = try MemoryResources(playlists: ["video.m3u8": Self.video], media: Self.videoPaths)
        var limits = DownloadLimits()
        limits.concurrency = concurrency
        _ = try await Self.copy(resources, limits: limits)
        #expect(resources.mostUnderWay <= concurrency)
    }
}
