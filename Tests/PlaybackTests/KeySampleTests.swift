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
        let download = StreamDownload(FileResources())
        return try #require(try await download.sample(of: key, in: playlists, into: folder.url))
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
            #expect(sample.protection?.scheme == (asset == .transportStream ? nil : "cbcs"))
            #expect(asset == .transportStream || sample.protection?.constantIV == content.iv.revealed)
            #expect(try await StreamPlayer(FFmpeg()).verdict(on: sample, with: content) == .right)
        }
    }

    @Test(arguments: [DemoAsset.twoKeys, .transportStream])
    func `another key is wrong, with what the decoder said`(_ asset: DemoAsset) async throws {
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

    @Test func `a key that no segment uses has no sample`() async throws {
        let folder = try TemporaryFolder()
        let found = try await StreamDownload(FileResources()).sample(
            of: "skd://none", in: [playlist(.twoKeys)], into: folder.url)
        #expect(found == nil)
    }

    @Test func `an init section cut short at any byte ends nothing`() async throws {
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
            let found = try? await StreamDownload(FileResources()).sample(
                of: "skd://demo/video", in: [list], into: folder.url)
            #expect(found?.protection?.scheme == nil)
        }
    }
}
