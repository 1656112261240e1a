import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct KeySampleTests {
    private static let rotated: [KeyURI] = ["skd://oLHC0+T1BhcoOUpbbH2Onw==", "skd://scLT5PUGFyg5SltsfY6foA=="]

    private func playlist(_ asset: DemoAsset, _ name: String = "video") throws -> Playlist {
        let file = asset.directory.appending(path: "\(name).m3u8")
        return try Playlist(Data(contentsOf: file), context: PlaylistContext(uri: file.absoluteString))
    }

    private func sample(_ key: KeyURI, _ playlists: [Playlist], _ folder: TemporaryFolder) async throws -> KeySample {
        let place = try #require(try SamplePlan(playlists, limit: 10).places.first { $0.key == key })
        return try await StreamDownload(FileResources()).sample(at: place, into: folder.url)
    }

    @Test(arguments: DemoAsset.allCases)
    func `the first segment of each key is loaded, and its key opens it`(_ asset: DemoAsset) async throws {
        let playlists = try (asset == .twoKeys ? ["video", "audio"] : ["video"]).map { try playlist(asset, $0) }
        let keys: [KeyURI] =
            switch asset {
            case .twoKeys: ["skd://demo/video", "skd://demo/audio"]
            case .transportStream: ["skd://demo/video"]
            case .rotation: Self.rotated
            }
        for key in keys {
            let folder = try TemporaryFolder()
            let sample = try await sample(key, playlists, folder)
            let content = try #require(DemoAsset.contentKeys()[key])
            #expect(sample.copy.tracks.map(\.segments.count) == [1])
            #expect(sample.protections.map(\.scheme) == (asset == .transportStream ? [] : ["cbcs"]))
            #expect(asset == .transportStream || sample.protections.first?.constantIV == content.iv.revealed)
            #expect(sample.isEncrypted == true && !sample.isPicture)
            #expect(try await StreamPlayer(FFmpeg()).verdict(on: sample, with: content) == .right)
        }
    }

    @Test(arguments: [DemoAsset.twoKeys, .transportStream])
    func `another key is wrong, with the decoder's message`(_ asset: DemoAsset) async throws {
        let folder = try TemporaryFolder()
        let sample = try await sample("skd://demo/video", [playlist(asset)], folder)
        let zeros = String(repeating: "0", count: 32)
        let other = try #require(DemoAsset.contentKey(zeros, zeros))
        guard case .wrong(let complaint) = try await StreamPlayer(FFmpeg()).verdict(on: sample, with: other) else {
            Issue.record("not wrong")
            return
        }
        #expect(complaint?.isEmpty == false)
    }

    @Test func `the media states the key of each track and each period`() async throws {
        let key = { (asset: DemoAsset, name: String, uri: KeyURI) in (try playlist(asset, name), uri) }
        let places = [
            (try key(.twoKeys, "video", "skd://demo/video"), "a0b1c2d3e4f5061728394a5b6c7d8e9f"),
            (try key(.twoKeys, "audio", "skd://demo/audio"), "f1e2d3c4b5a697887766554433221100"),
            (try key(.twoKeys, "iframe", "skd://demo/video"), "a0b1c2d3e4f5061728394a5b6c7d8e9f"),
            (try key(.rotation, "video", Self.rotated[0]), "a0b1c2d3e4f5061728394a5b6c7d8e9f"),
            (try key(.rotation, "video", Self.rotated[1]), "b1c2d3e4f5061728394a5b6c7d8e9fa0"),
        ]
        for ((playlist, uri), id) in places {
            let folder = try TemporaryFolder()
            let sample = try await sample(uri, [playlist], folder)
            #expect(sample.protections.map { $0.keyID?.hexString } == [id])
        }
    }

    @Test func `a segment whose sample entry is clear is in clear`() async throws {
        let copy = try DemoAsset.twoKeys.copy()
        let list = try Playlist(
            Data(contentsOf: copy.folder.file("video.m3u8")),
            context: PlaylistContext(uri: copy.folder.file("video.m3u8").absoluteString))
        let initialization = copy.folder.file("v/init.mp4")
        let whole = try Data(contentsOf: initialization)
        try Data(whole.replacing(Data("encv".utf8), with: Data("avc1".utf8))).write(to: initialization)
        let folder = try TemporaryFolder()
        let sample = try await sample("skd://demo/video", [list], folder)
        #expect(sample.isEncrypted == false && sample.protections.map(\.scheme) == [nil])
    }

    @Test func `an init section cut anywhere does not crash`() async throws {
        let folder = try TemporaryFolder()
        let copy = try DemoAsset.twoKeys.copy()
        let whole = try Data(contentsOf: copy.folder.url.appending(path: "v/init.mp4"))
        let file = copy.folder.url.appending(path: "v/init.mp4")
        let text = try String(contentsOf: copy.folder.url.appending(path: "video.m3u8"), encoding: .utf8)
        let list = try Playlist(
            Data(text.utf8), context: PlaylistContext(uri: copy.folder.url.appending(path: "video.m3u8").absoluteString)
        )
        for count in stride(from: 9, to: whole.count, by: 13) {
            try whole.prefix(count).write(to: file)
            // The segment is refused, or states no encryption.
            let found = try? await sample("skd://demo/video", [list], folder)
            #expect(found?.protections.first?.scheme == nil)
        }
    }
}
