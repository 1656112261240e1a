import Foundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import Testing

@testable import LatchkeyPlayback

@Suite(.timeLimit(.minutes(5))) struct StreamPlayerTests {
    private static let iv = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

    private static func play(_ asset: DemoAsset, _ keys: [KeyURI: ContentKey]) async throws -> PlaybackVerdict {
        let scratch = try asset.copy()
        let result = try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: keys)
        return try result.verdict(against: DemoAsset.reference())
    }

    @Test(arguments: DemoAsset.allCases)
    func `with its keys an asset plays to the last sample and picture`(asset: DemoAsset) async throws {
        let scratch = try asset.copy()
        let result = try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: DemoAsset.contentKeys())
        let verdict = try result.verdict(against: DemoAsset.reference())
        #expect(verdict.isRight)
        #expect(verdict.tracks.map(\.samples?.matching) == (asset == .twoKeys ? [150, 283] : [150]))
        #expect(verdict.tracks.map(\.frames?.matching) == (asset == .twoKeys ? [150, nil] : [150]))
        #expect(result.tracks.map(\.media) == (asset == .twoKeys ? [.video, .audio] : [.video]))
        #expect(result.tracks.map(\.codec) == (asset == .twoKeys ? ["h264", "aac"] : ["h264"]))
        #expect(result.tracks.flatMap(\.complaints) == [])
        #expect(result.verdict().isRight, "the decoder alone agrees")
    }

    @Test(arguments: DemoAsset.allCases)
    func `a copy plays repeatedly`(asset: DemoAsset) async throws {
        let scratch = try asset.copy()
        for _ in 0..<2 {
            let picture = scratch.copy.directory.appending(path: "picture.png")
            let result = try await StreamPlayer(FFmpeg()).play(
                scratch.copy, keys: DemoAsset.contentKeys(), picture: picture)
            #expect(try result.verdict(against: DemoAsset.reference()).isRight && result.picture == picture)
        }
    }

    @Test(arguments: DemoAsset.allCases)
    func `with a wrong key no picture is right, whatever ffmpeg's exit status`(asset: DemoAsset) async throws {
        let wrong = try #require(DemoAsset.contentKey("0f0e0d0c0b0a09080706050403020100", Self.iv))
        let verdict = try await Self.play(asset, DemoAsset.contentKeys().mapValues { _ in wrong })
        #expect(!verdict.isRight)
        // One audio frame is shorter than a cipher block, so it is never encrypted.
        #expect(verdict.tracks.map(\.samples?.matching) == (asset == .twoKeys ? [0, 1] : [0]))
        #expect(verdict.tracks.first?.frames?.matching == 0)
        #expect(verdict.tracks.allSatisfy { !$0.isRight })
    }

    @Test(arguments: DemoAsset.allCases)
    func `a wrong key shows without reference hashes too`(asset: DemoAsset) async throws {
        let wrong = try #require(DemoAsset.contentKey("0f0e0d0c0b0a09080706050403020100", Self.iv))
        let scratch = try asset.copy()
        let keys = try DemoAsset.contentKeys().mapValues { _ in wrong }
        let result = try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: keys)
        #expect(result.verdict().tracks.allSatisfy { !$0.isRight && $0.basis == .decoder })
        #expect(result.tracks.allSatisfy { $0.complaintCount > 20 && $0.complaints.count == 20 })
    }

    @Test func `swapped keys of sound and picture give neither`() async throws {
        var keys = try DemoAsset.contentKeys()
        (keys["skd://demo/video"], keys["skd://demo/audio"]) = (keys["skd://demo/audio"], keys["skd://demo/video"])
        let verdict = try await Self.play(.twoKeys, keys)
        #expect(verdict.tracks.map(\.samples?.matching) == [0, 1])
        #expect(verdict.tracks.map(\.isRight) == [false, false])
    }

    @Test func `a wrong key of one period spoils only that period`() async throws {
        var keys = try DemoAsset.contentKeys()
        keys["skd://scLT5PUGFyg5SltsfY6foA=="] = keys["skd://oLHC0+T1BhcoOUpbbH2Onw=="]
        let verdict = try await Self.play(.rotation, keys)
        #expect(verdict.tracks.map(\.samples?.matching) == [100])
        #expect(verdict.tracks.map(\.frames?.matching) == [100])
        #expect(!verdict.isRight)
    }

    @Test(arguments: [DemoAsset.twoKeys, .transportStream, .rotation])
    func `a license's wrong IV is never right, though the decoder takes fMP4's`(asset: DemoAsset)
        async throws
    {
        let keys = try DemoAsset.contentKeys().compactMapValues {
            DemoAsset.contentKey($0.key.revealed.hexString, "00000000000000000000000000000000")
        }
        let scratch = try asset.copy()
        let result = try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: keys)
        let verdict = try result.verdict(against: DemoAsset.reference())
        #expect(!verdict.isRight)
        #expect(result.findings.map(\.rule.code) == (asset == .transportStream ? [] : ["wrongIV"]))
        #expect((verdict.tracks.first?.samples?.matching == 0) == (asset == .transportStream))
    }

    @Test(arguments: DemoAsset.allCases)
    func `a missing key is an error that names the key`(asset: DemoAsset) async throws {
        let scratch = try asset.copy()
        let last = try #require(scratch.copy.keyURIs.last)
        var keys = try DemoAsset.contentKeys()
        keys[last] = nil
        let error = await #expect(throws: Diagnosis.self) {
            try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: keys)
        }
        #expect(error?.code == "keyMissing")
        #expect(error?.reason.contains(last.raw) == true)
    }

    @Test(arguments: DemoAsset.allCases)
    func `a picture is written from the middle of the stream`(asset: DemoAsset) async throws {
        let scratch = try asset.copy()
        let file = scratch.folder.url.appending(path: "picture %d.png")
        let result = try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: DemoAsset.contentKeys(), picture: file)
        #expect(result.picture == file)
        let png = try Data(contentsOf: file)
        #expect(png.dropFirst(12).prefix(12).hexString == "49484452" + "00000140" + "000000b4", "320 by 180")
        #expect(try await Self.picture(75, of: scratch) == png)
        #expect(try await Self.picture(149, of: scratch) != png)
    }

    private static func picture(_ frame: Int, of scratch: ScratchCopy) async throws -> Data {
        let file = scratch.folder.url.appending(path: "\(frame).png")
        _ = try await StreamPlayer(FFmpeg()).play(
            scratch.copy, keys: DemoAsset.contentKeys(), picture: file, frame: frame)
        return try Data(contentsOf: file)
    }

    @Test func `there is no picture after the end of the stream`() async throws {
        let scratch = try DemoAsset.transportStream.copy()
        let file = scratch.folder.url.appending(path: "none.png")
        let result = try await StreamPlayer(FFmpeg()).play(
            scratch.copy, keys: DemoAsset.contentKeys(), picture: file, frame: 150)
        #expect(result.picture == nil)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `a segment that ffmpeg cannot read gives no samples, complaints and a wrong verdict`() async throws {
        let scratch = try DemoAsset.transportStream.copy()
        for number in 1...3 { try Data(count: 5_000).write(to: scratch.folder.url.appending(path: "v/\(number).ts")) }
        let result = try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: DemoAsset.contentKeys())
        #expect(result.tracks.map(\.samples) == [[]])
        #expect(result.tracks.allSatisfy { $0.complaintCount > 0 })
        #expect(!result.verdict().isRight)
    }

    @Test func `a clear stream of sound and picture in one gives both tracks without a key`() async throws {
        let folder = try TemporaryFolder()
        try await Self.encode(["-f", "mpegts"], to: folder.url.appending(path: "1.ts"))
        let track = LocalTrack(
            name: "main", container: .transportStream, segments: [LocalSegment(file: "1.ts", duration: 1)])
        let result = try await StreamPlayer(FFmpeg()).play(LocalCopy(directory: folder.url, tracks: [track]), keys: [:])
        #expect(result.tracks.map(\.codec) == ["mpeg2video", "mp2"])
        #expect(result.tracks.first?.frames.count == 25)
        #expect(result.verdict().isRight)
    }

    @Test(arguments: [("00112233445566778899aabbccddeeff", true), ("10112233445566778899aabbccddeeff", false)])
    func `whole segments under AES-128 play only with their key`(key: String, isRight: Bool) async throws {
        let folder = try TemporaryFolder()
        let (file, info) = (folder.url.appending(path: "key"), folder.url.appending(path: "info"))
        try Data(hexString: "00112233445566778899aabbccddeeff")?.write(to: file)
        try Data("skd://whole\n\(file.path)\n\(Self.iv)\n".utf8).write(to: info)
        let list = folder.url.appending(path: "list.m3u8")
        try await Self.encode(["-f", "hls", "-hls_key_info_file", info.path], to: list)
        let keys = try ["skd://whole": #require(DemoAsset.contentKey(key, Self.iv))] as [KeyURI: ContentKey]
        let result = try await StreamPlayer(FFmpeg()).play(list.path, StreamDownload(FileResources()), keys: keys)
        #expect(result.verdict().isRight == isRight)
        #expect(result.tracks.first?.frames.count == (isRight ? 25 : 0))
    }

    /// One second of a test picture with a tone, not encrypted unless the format encrypts it.
    private static func encode(_ format: [String], to file: URL) async throws {
        let picture = ["-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:duration=1"]
        let sound = ["-f", "lavfi", "-i", "sine=duration=1"]
        let codecs = ["-c:v", "mpeg2video", "-c:a", "mp2"]
        let encoder = ChildProcess(
            program: try FFmpeg().path, arguments: ["-v", "error"] + picture + sound + codecs + format + [file.path])
        let result = try await encoder.run(deadline: .seconds(60), clock: ManualTimekeeper())
        try #require(result.status == 0, "\(String(decoding: result.errors, as: UTF8.self))")
    }

    @Test func `cancelling ends ffmpeg while it waits for a segment`() async throws {
        let scratch = try DemoAsset.transportStream.copy()
        let fifo = try Fifo(at: scratch.folder.url.appending(path: "v/1.ts"))
        let task = Task { try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: DemoAsset.contentKeys()) }
        let writer = await fifo.openForWriting()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(writer.hasNoReader)
    }

    @Test func `the deadline ends ffmpeg while it waits for a segment`() async throws {
        let clock = ManualTimekeeper()
        let scratch = try DemoAsset.transportStream.copy()
        let fifo = try Fifo(at: scratch.folder.url.appending(path: "v/1.ts"))
        let player = StreamPlayer(try FFmpeg(deadline: .seconds(30), clock: clock))
        let task = Task { try await player.play(scratch.copy, keys: DemoAsset.contentKeys()) }
        let writer = await fifo.openForWriting()
        await clock.untilSomeoneSleeps()
        clock.advance(by: .seconds(30))
        #expect(await errorCode { try await task.value } == "deadlineExceeded")
        #expect(writer.hasNoReader)
    }

    @Test func `only the user reads key files, and no playlist holds a key`() async throws {
        let scratch = try DemoAsset.twoKeys.copy()
        _ = try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: DemoAsset.contentKeys())
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.url.path)
        let keys = names.filter { $0.hasSuffix(".key.bin") }
        #expect(keys.count == 2)
        for name in keys {
            let path = scratch.folder.url.appending(path: name).path
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
        for name in names where name.contains("-run-") && name.hasSuffix(".m3u8") {
            let text = try String(contentsOf: scratch.folder.url.appending(path: name), encoding: .utf8)
            #expect(!text.contains("00112233445566778899aabbccddeeff") && !text.contains("skd:"))
        }
    }
}
