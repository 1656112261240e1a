import Foundation
import LatchkeySimulation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine

@Suite(.timeLimit(.minutes(5))) struct MediaFolderTests {
    @Test func `the multivariant playlists are the streams, with their keys counted`() async {
        let media = await MediaFolder(DemoAsset.folder)
        #expect(
            media.streams == [
                .init(path: "rotation/master.m3u8", keys: 2), .init(path: "ts/master.m3u8", keys: 1),
                .init(path: "two-keys/master.m3u8", keys: 2),
            ])
        #expect(media.stream(namingKeys: false)?.path == "ts/master.m3u8")
        #expect(media.stream(namingKeys: true)?.path == "rotation/master.m3u8")
    }

    @Test func `media playlists are the streams where no playlist is multivariant`() async throws {
        let folder = try TemporaryFolder()
        let playlist = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://a",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:6,
            a.ts
            """
        for (name, text) in [("b.m3u8", playlist), ("c.m3u8", "no playlist"), (".hidden.m3u8", playlist)] {
            try Data(text.utf8).write(to: folder.file(name))
        }
        let media = await MediaFolder(folder.url)
        #expect(media.streams == [.init(path: "b.m3u8", keys: 1), .init(path: "c.m3u8", keys: nil)])
    }

    @Test func `a folder without playlists has no stream`() async throws {
        let folder = try TemporaryFolder()
        #expect(await MediaFolder(folder.url).streams.isEmpty)
    }
}
