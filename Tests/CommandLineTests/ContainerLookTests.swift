import Foundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// `latchkey keys` reads the media of a folder, of a playlist and of a file, without a key.
@Suite(.timeLimit(.minutes(2))) struct ContainerLookTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A copy of a demo stream, with a byte of a box changed.
    private func stream(_ asset: DemoAsset, _ edit: (file: String, box: String, offset: Int, value: UInt8)? = nil)
        throws -> String
    {
        let copy = folder.file("packaged")
        try FileManager.default.copyItem(at: DemoAsset.folder.appending(path: asset.rawValue), to: copy)
        if let edit {
            var data = try Data(contentsOf: copy.appending(path: edit.file))
            let box = try #require(data.firstRange(of: Data(edit.box.utf8)))
            data[box.upperBound + edit.offset] = edit.value
            try data.write(to: copy.appending(path: edit.file))
        }
        return copy.path
    }

    private func codes(_ run: RecordedRun) -> [String]? {
        (run.json["checks"] as? [[String: Any]])?.compactMap { $0["code"] as? String }
    }

    @Test(arguments: DemoAsset.allCases) func `a sound folder raises no alarm`(_ asset: DemoAsset) async throws {
        let path = try stream(asset)
        let run = await RecordedRun("keys", path, "--json")
        #expect(run.status == .yes && codes(run) == [], "\(run.output)\(run.error)")
        let containers = try #require(run.json["containers"] as? [String: Any])
        #expect(containers["leftOut"] as? Int == 0 && (containers["segments"] as? Int ?? 0) > 0)
        let text = await RecordedRun("keys", path)
        #expect(
            text.status == .yes && text.output.contains("looked at, without keys") && !text.output.contains("Error"))
    }

    @Test func `a media fault is an error that names key and place`() async throws {
        let path = try stream(.twoKeys, ("v/init.mp4", "tenc", 5, 0x55))
        let run = await RecordedRun("keys", path)
        #expect(run.status == .no, "\(run.output)")
        #expect(run.output.contains("Error: skd://demo/video: picture has the pattern 5:5; FairPlay opens 1:9 ("))
        #expect(codes(await RecordedRun("keys", path, "--json")) == ["videoPattern"])
        #expect(codes(await RecordedRun("keys", path + "/video.m3u8", "--json")) == ["videoPattern"])
    }

    @Test(arguments: [("v/init.mp4", true), ("v/1.m4s", false), ("ts/v/1.ts", true)])
    func `a single media file is checked`(_ name: String, _ isRight: Bool) async throws {
        let file = DemoAsset.folder.appending(path: name.hasPrefix("ts") ? name : "two-keys/\(name)").path
        let run = await RecordedRun("keys", file, "--json")
        #expect(run.status == (isRight ? .yes : .no), "\(run.output)\(run.error)")
        #expect(codes(run) == (isRight ? [] : ["mapMissing"]))
        #expect(await RecordedRun("keys", file).output.contains("as media under a FairPlay key"))
    }

    @Test func `a reached limit is reported`() async throws {
        let run = await RecordedRun("keys", try stream(.twoKeys), "--samples", "1")
        #expect(run.output.contains("1 of 3 segments looked at"), "\(run.output)")
    }

    @Test func `invalid media segments are an error; missing ones are not`() async throws {
        let path = try stream(.transportStream)
        for name in ["1", "2", "3"] { try Data("<html>".utf8).write(to: folder.file("packaged/v/\(name).ts")) }
        #expect(await RecordedRun("keys", path).status == .no)
        try FileManager.default.removeItem(at: folder.file("packaged/v"))
        let run = await RecordedRun("keys", path)
        #expect(run.status == .yes && run.output.contains("Not looked at: "), "\(run.output)")
    }

    @Test(arguments: ["keys", "doctor", "play"])
    func `a folder with no stream or several is refused with their names`(_ verb: String) async throws {
        let options =
            verb == "keys"
            ? [] : ["--vendor", "generic-raw", "--set", "licenseURL=https://h.example", "--credentials", "c"]
        try FileManager.default.createDirectory(at: folder.file("empty"), withIntermediateDirectories: true)
        let none = await RecordedRun([verb, folder.path("empty")] + options, tool: .standard)
        #expect(none.status == .no && none.error.contains("has no playlist"), "\(none.error)")
        for name in ["a.m3u8", "b.m3u8"] {
            try folder.write("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n", to: "empty/\(name)")
        }
        let two = await RecordedRun([verb, folder.path("empty")] + options, tool: .standard)
        #expect(two.status == .no && two.error.contains("2 playlists: a.m3u8, b.m3u8"), "\(two.error)")
    }
}
