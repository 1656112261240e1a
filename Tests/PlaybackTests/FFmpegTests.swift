import Foundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import Testing

@testable import LatchkeyPlayback

@Suite(.timeLimit(.minutes(5))) struct FFmpegTests {
    @Test func `a missing tool is named with its package`() {
        let error = #expect(throws: Diagnosis.self) { try FFmpeg(path: "/nowhere/ffmpeg") }
        #expect(error?.code == "toolMissing")
        #expect(error?.remedy.contains("apt-get install --no-install-recommends ffmpeg") == true)
    }

    @Test func `the first folder of the path that has it wins, and relative ones are skipped`() throws {
        let (empty, first, second) = (try TemporaryFolder(), try TemporaryFolder(), try TemporaryFolder())
        for folder in [first, second] {
            let tool = folder.url.appending(path: "ffmpeg")
            try Data().write(to: tool)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: tool.path)
        }
        try Data().write(to: empty.url.appending(path: "ffmpeg"))
        let folders = [".", "", empty.url.path, first.url.path, second.url.path].joined(separator: ":")
        #expect(FFmpeg.find("ffmpeg", in: folders) == "\(first.url.path)/ffmpeg")
        #expect(FFmpeg.find("ffmpeg", in: empty.url.path) == nil)
    }

    @Test func `complaints lose addresses, folders and look-ahead messages`() {
        let text = """
            [h264 @ 0x55aed31aeec0] no frame!
            [NULL @ 0x55aed31aeec0] illegal memory management control operation 21
            /folder/list.m3u8: Invalid data found
            [hls @ broken

            """
        let complaints = FFmpeg.complaints(in: Data(text.utf8), about: URL(filePath: "/folder/list.m3u8"))
        #expect(complaints == ["[h264] no frame!", "list.m3u8: Invalid data found", "[hls @ broken"])
    }

    @Test(arguments: [("script.ts", "list.m3u8"), ("script.ts", "script.ts")])
    func `a script in place of media opens nothing`(name: String, opened: String) async throws {
        let scratch = try DemoAsset.transportStream.copy()
        let url = scratch.folder.url
        try Data("ffconcat version 1.0\nfile v/1.ts\n".utf8).write(to: url.appending(path: name))
        try Data("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(name)\n#EXT-X-ENDLIST\n".utf8)
            .write(to: url.appending(path: "list.m3u8"))
        let result = try await FFmpeg().sampleHashes(of: url.appending(path: opened))
        #expect(result.streams.flatMap(\.hashes) == [])
        #expect(!result.complaints.isEmpty)
    }

    @Test func `a local playlist with a network address opens nothing`() async throws {
        let folder = try TemporaryFolder()
        let list = folder.url.appending(path: "list.m3u8")
        try Data("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/x.ts\n#EXT-X-ENDLIST\n".utf8)
            .write(to: list)
        let result = try await FFmpeg().sampleHashes(of: list)
        #expect(result.complaints.contains { $0.contains("not on whitelist") })
    }

    @Test func `a missing playlist gives no streams, only complaints`() async throws {
        let result = try await FFmpeg().decodedFrames(of: URL(filePath: "/nowhere/list.m3u8"), .video)
        #expect(result.streams.isEmpty && !result.complaints.isEmpty)
    }
}
