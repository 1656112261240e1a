import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// Streams with one fault in their media or delivery, which another rendition, key tag or period hides: no tool says that all is well.
/// Cases 12 and 18 to 21 of public trouble with media, and others of the same kinds.
@Suite(
    .serialized, .enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"), .timeLimit(.minutes(8)))
struct DoctorMediaTests {
    static let oneURITwoKeys = [
        DoctorSetup(
            "19: both renditions name the audio's key URI", "oneURITwoKeys", words: ["audio.m3u8", "video.m3u8"],
            .vuDRM, .twoKeys
        ) {
            stage in
            try stage.rewritePlaylists { _, text in text.replacing(stage.keyURI(0), with: stage.keyURI(1)) }
        },
        DoctorSetup(
            "19: both name the picture's", "oneURITwoKeys", words: ["audio.m3u8", "video.m3u8"], .vuDRM, .twoKeys
        ) { stage in
            try stage.rewritePlaylists { _, text in text.replacing(stage.keyURI(1), with: stage.keyURI(0)) }
        },
        DoctorSetup(
            "the I-frame playlist alone names another key", "oneURITwoKeys", words: ["iframe.m3u8"], .vuDRM, .twoKeys
        ) { stage in
            try stage.rewritePlaylists { name, text in
                name == "iframe.m3u8" ? text.replacing(stage.keyURI(0), with: stage.keyURI(1)) : text
            }
        },
        DoctorSetup("two rotated keys have one key URI", "oneURITwoKeys", .vuDRM, .rotation) { stage in
            try stage.rewritePlaylists { _, text in
                text.replacing("\"\(stage.keyURI(3))\"", with: "\"\(stage.keyURI(2))\"")
            }
        },
        DoctorSetup("a later period has another key under the same tag", "oneURITwoKeys", .vuDRM, .twoKeys) { stage in
            try stage.rewritePlaylists { name, text in
                guard name == "video.m3u8" else { return text }
                return text.replacing(
                    "v/3.m4s", with: "v/3.m4s\n#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"a/init.mp4\"\n#EXTINF:2,\na/1.m4s"
                )
            }
        },
    ]

    static let clearOrNot = [
        DoctorSetup("12: a clear transport stream under a key tag", "notEncrypted", words: ["METHOD=NONE"]) { stage in
            let clear = try await stage.clearSegment()
            try stage.rewriteMedia("v/1.ts") { _ in clear }
        },
        DoctorSetup("an advertisement in clear without METHOD=NONE", "notEncrypted", words: ["line 13", "METHOD=NONE"])
        { stage in
            let clear = try await stage.clearSegment()
            try stage.rewritePlaylists {
                $1.replacing("#EXTINF:2.000,\nv/3.ts", with: "#EXT-X-DISCONTINUITY\n#EXTINF:2,\nv/3.ts")
            }
            try stage.rewriteMedia("v/3.ts") { _ in clear }
        },
        DoctorSetup("a transport stream is encrypted after METHOD=NONE", "encryptedWithoutKey") { stage in
            try stage.rewritePlaylists {
                $1.replacing("#EXTINF:2.000,\nv/3.ts", with: "#EXT-X-KEY:METHOD=NONE\n#EXTINF:2,\nv/3.ts")
            }
        },
        DoctorSetup("fMP4 is encrypted after METHOD=NONE", "encryptedWithoutKey", .vuDRM, .twoKeys) { stage in
            try stage.rewritePlaylists { name, text in
                text.replacing("#EXTINF:2.000,\nv/3.m4s", with: "#EXT-X-KEY:METHOD=NONE\n#EXTINF:2,\nv/3.m4s")
            }
        },
        DoctorSetup("one rendition lacks its key tag", "encryptedWithoutKey", words: ["audio.m3u8"], .vuDRM, .twoKeys) {
            stage in
            try stage.rewritePlaylists { name, text in
                guard name == "audio.m3u8" || name == "master.m3u8" else { return text }
                return text.split(separator: "\n", omittingEmptySubsequences: false).filter {
                    !$0.contains(stage.keyURI(1))
                }.joined(separator: "\n")
            }
        },
        DoctorSetup("a segment of a later period is missing", "segmentUnreadable") { stage in
            try stage.rewritePlaylists {
                $1.replacing("#EXTINF:2.000,\nv/3.ts", with: "#EXT-X-DISCONTINUITY\n#EXTINF:2,\nv/3.ts")
            }
            try stage.rewriteMedia("v/3.ts") { _ in nil }
        },
    ]

    static let delivery = [
        DoctorSetup("20: the server ignores Range", "rangeIgnored", words: ["-12642"]) { stage in
            try stage.serveRanges { file, _ in HTTPResponse(contentType: "video/mp2t", bytes: file) }
        },
        DoctorSetup("a range comes as the whole file, with 206", "segmentUnreadable", words: ["with status 206"]) {
            stage in
            try stage.serveRanges { file, _ in HTTPResponse(status: 206, contentType: "video/mp2t", bytes: file) }
        },
        DoctorSetup("a range is one byte short", "segmentUnreadable", words: ["with status 206"]) { stage in
            try stage.serveRanges { file, range in
                HTTPResponse(status: 206, contentType: "video/mp2t", bytes: file[range].dropLast())
            }
        },
    ]

    /// Streams that the decoder plays and no device opens.
    static let refused = [
        DoctorSetup(
            "shaka-packager#326: sound with tenc of version 0", "trackEncryptionVersion", words: ["audio.m3u8, line"],
            .vuDRM, .twoKeys
        ) { stage in
            try stage.rewriteMedia("a/init.mp4") { data in
                let version = data.firstRange(of: Data("tenc".utf8)).map(\.upperBound)
                var data = data
                if let version { data[version] = 0 }
                return data
            }
        },
        DoctorSetup("zap-stream-core#98: parts longer than PART-TARGET", "partExceedsTarget", words: ["0.501"]) {
            stage in
            try stage.rewritePlaylists { name, text in
                guard name == "video.m3u8" else { return text }
                return text.replacing(
                    "#EXT-X-KEY",
                    with: "#EXT-X-SERVER-CONTROL:PART-HOLD-BACK=1.5\n#EXT-X-PART-INF:PART-TARGET=0.49\n#EXT-X-KEY",
                    maxReplacements: 1
                ).replacing("#EXT-X-ENDLIST", with: "#EXT-X-PART:DURATION=0.501,URI=\"v/1.ts\"\n#EXT-X-ENDLIST")
            }
        },
    ]

    @Test(arguments: refused) func `play rejects media that no device opens`(_ setup: DoctorSetup) async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, setup.profile, setup.asset)
            try await setup.sabotage(stage)
            let played = try await stage.play(["--json"])
            await stage.stop()
            let codes = (played.json?["checks"] as? [[String: Any]])?.compactMap { $0["code"] as? String }
            #expect(played.status == 1 && codes == [setup.cause], "\(played.output)\(played.error)")
        }
    }

    @Test(arguments: oneURITwoKeys + clearOrNot + delivery + refused)
    func `a fault in one sample is found and named`(_ setup: DoctorSetup) async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, setup.profile, setup.asset)
            try await setup.sabotage(stage)
            let found = try await stage.diagnose()
            await stage.stop()
            #expect(found.cause == setup.cause && found.status == 1, "\(found.text)")
            #expect(setup.words.allSatisfy(found.text.contains), "\(found.text)")
        }
    }

    static let sound = [
        DoctorSetup("ranges that a server honors", "") { stage in
            try stage.serveRanges { file, range in
                HTTPResponse(status: 206, contentType: "video/mp2t", bytes: file[range])
            }
        },
        DoctorSetup("an advertisement in clear after METHOD=NONE", "") { stage in
            let clear = try await stage.clearSegment()
            try stage.rewritePlaylists {
                $1.replacing(
                    "#EXTINF:2.000,\nv/3.ts", with: "#EXT-X-DISCONTINUITY\n#EXT-X-KEY:METHOD=NONE\n#EXTINF:2,\nv/3.ts")
            }
            try stage.rewriteMedia("v/3.ts") { _ in clear }
        },
        DoctorSetup("21 hls.js#7542: a key ID of zeros", "", .vuDRM, .twoKeys) { stage in
            let id = try #require(Data(hexString: "a0b1c2d3e4f5061728394a5b6c7d8e9f"))
            try stage.rewriteMedia("v/init.mp4") { Data($0.replacing(id, with: Data(count: 16))) }
        },
        DoctorSetup("subtitles", "") { stage in
            try stage.rewritePlaylists {
                $1.replacing(
                    "#EXT-X-STREAM-INF",
                    with: "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"s\",URI=\"s.m3u8\"\n#EXT-X-STREAM-INF")
            }
            try stage.folder.write(
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.vtt\n#EXT-X-ENDLIST\n", to: "stream/s.m3u8")
        },
    ]

    @Test(arguments: sound) func `a valid but unusual stream raises no alarm`(_ setup: DoctorSetup) async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, setup.profile, setup.asset)
            try await setup.sabotage(stage)
            let found = try await stage.diagnose()
            await stage.stop()
            #expect(found.codes.filter { $0 != "slowReply" }.isEmpty && found.status == 0, "\(found.text)")
        }
    }

    static let odd = [
        DoctorSetup(
            "two key IDs, and one key opens both", "oneURITwoKeyIDs", words: ["video.m3u8", "other.m3u8"], .vuDRM,
            .twoKeys
        ) {
            stage in
            let id = try #require(Data(hexString: "a0b1c2d3e4f5061728394a5b6c7d8e9f"))
            try stage.rewritePlaylists { name, text in
                name == "master.m3u8" ? text + "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"aud\"\nother.m3u8\n" : text
            }
            let list = String(decoding: try #require(stage.folder.contents("stream/video.m3u8")), as: UTF8.self)
            try stage.folder.write(list.replacing("v/init.mp4", with: "v/other.mp4"), to: "stream/other.m3u8")
            let head = try #require(stage.folder.contents("stream/v/init.mp4"))
            try Data(head.replacing(id, with: Data(id.reversed()))).write(to: stage.folder.file("stream/v/other.mp4"))
        },
        DoctorSetup("a segment of a later period is damaged", "segmentDamaged", words: ["line 14"], .vuDRM, .twoKeys) {
            stage in
            try stage.rewritePlaylists {
                $1.replacing("#EXTINF:2.000,\nv/3.m4s", with: "#EXT-X-DISCONTINUITY\n#EXTINF:2,\nv/3.m4s")
            }
            try stage.rewriteMedia("v/3.m4s") { data in
                var damaged = data
                for index in stride(from: 1_600, to: data.count, by: 97) { damaged[data.startIndex + index] ^= 0xff }
                return damaged
            }
        },
        DoctorSetup(
            "a key tag that another replaces before any segment", "keyTagReplaced",
            words: ["opens nothing: another replaces it before a segment"]
        ) { stage in
            let other = stage.keyURI(1)
            try stage.rewritePlaylists { name, text in
                guard name == "video.m3u8",
                    let tag = text.split(separator: "\n").first(where: { $0.hasPrefix("#EXT-X-KEY") })
                else {
                    return text.split(separator: "\n").filter { !$0.contains("SESSION-KEY") }.joined(separator: "\n")
                }
                return text.replacing(
                    tag, with: "\(tag.replacing(stage.keyURI(0), with: other))\n\(tag)", maxReplacements: 1)
            }
        },
        DoctorSetup(
            "the sound has a key of another system alone", "renditionWithoutFairPlay", words: ["audio.m3u8"], .vuDRM,
            .twoKeys
        ) {
            stage in
            try stage.rewritePlaylists { name, text in
                switch name {
                case "audio.m3u8":
                    text.replacing(
                        "com.apple.streamingkeydelivery", with: "urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed")
                case "master.m3u8":
                    text.split(separator: "\n").filter { !$0.contains("SESSION-KEY") }.joined(separator: "\n")
                default: text
                }
            }
        },
    ]

    @Test(arguments: odd) func `ambiguous faults are warnings`(_ setup: DoctorSetup) async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, setup.profile, setup.asset)
            try await setup.sabotage(stage)
            let found = try await stage.diagnose()
            #expect(found.codes.filter { $0 != "slowReply" } == [setup.cause] && found.status == 0, "\(found.text)")
            #expect(setup.words.allSatisfy(found.text.contains), "\(found.text)")
        }
    }

    @Test(arguments: DemoAsset.allCases)
    func `a reached limit is reported, and nothing is called right`(_ asset: DemoAsset) async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, .vuDRM, asset)
            stage.options += ["--samples", "1"]
            let found = try await stage.diagnose()
            let isWhole = asset == .transportStream
            #expect(found.status == (isWhole ? 0 : 3), "\(found.text)")
            #expect(found.text.contains("were not tried") != isWhole)
        }
    }

    @Test func `18: an unused session key is not requested, and no part is blamed`() async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, .vuDRM, .transportStream)
            try stage.rewritePlaylists { name, text in
                name == "master.m3u8" ? text.replacing("license/video", with: "license/nobody") : text
            }
            let found = try await stage.diagnose()
            #expect(found.status == 0 && found.cause == "keyOpensNothing", "\(found.text)")
            #expect(found.codes.filter { $0 != "slowReply" } == ["keyOpensNothing", "keyWithoutSessionKey"])
            #expect(stage.service.requests(at: .license).count == 1)
            // A player that asks for every session key fails, and its error says why.
            let played = try await stage.play()
            #expect(
                played.status == 1 && played.output.contains("no segment of the stream uses it"), "\(played.output)")
        }
    }

    @Test func `without ranges the I-frame playlist fails, and the stream plays`() async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, .vuDRM, .twoKeys)
            try stage.rewritePlaylists { $1 }
            let folder = stage.folder.path("stream")
            stage.playlist =
                try stage.serve { request in
                    let bytes = FileManager.default.contents(atPath: folder + request.path) ?? Data()
                    let type = request.path.hasSuffix("m3u8") ? "application/vnd.apple.mpegurl" : "video/mp4"
                    return HTTPResponse(contentType: type, bytes: bytes)
                } + "/master.m3u8"
            let found = try await stage.diagnose()
            await stage.stop()
            #expect(found.status == 0 && found.cause == "rangeIgnored", "\(found.text)")
            #expect(found.text.contains("scrubbing") && found.codes.filter { $0 != "slowReply" } == ["rangeIgnored"])
        }
    }

    @Test func `play says that AVPlayer refuses a range sent whole`() async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, .vuDRM, .transportStream)
            try stage.serveRanges { file, _ in HTTPResponse(contentType: "video/mp2t", bytes: file) }
            let run = try await stage.play()
            await stage.stop()
            #expect(run.status == 1 && run.output.contains("Error: ") && run.output.contains("-12642"), "\(run.output)")
        }
    }

    @Test func `play names the parts it skipped and the playlists' faults`() async throws {
        try await LiveServices.with { live in
            let stage = try DoctorStage(live, .vuDRM, .twoKeys)
            let sound = try await stage.play()
            #expect(
                sound.status == 0 && sound.output.contains("Not looked at: 1 of 3 media playlists"), "\(sound.output)")
            try stage.rewritePlaylists { name, text in
                name == "iframe.m3u8" ? text.replacing("streamingkeydelivery", with: "streamingkeydelivry") : text
            }
            let odd = try await stage.play(["--json"])
            #expect(odd.status == 1, "\(odd.output)")
            let codes = (odd.json?["checks"] as? [[String: Any]])?.compactMap { $0["code"] as? String }
            #expect(codes == ["keyFormatMisspelled"])
        }
    }
}

extension DoctorStage {
    /// The key URI of one of the demo asset's keys, as in the profile's service.
    func keyURI(_ index: Int) -> String {
        let keys = service.environment.authority.keys.keys
        guard keys.indices.contains(index) else { return "" }
        return service.keyURI(for: keys[index], at: live.address.split(separator: "://").last.map(String.init) ?? "")
    }

    /// The whole transport stream in clear, as one segment.
    func clearSegment() async throws -> Data {
        let file = folder.path("clear.ts")
        let run = try await play(["--out", file, "--force"])
        #expect(run.status == 0, "\(run.output)\(run.error)")
        return try Data(contentsOf: folder.file("clear.ts"))
    }

    /// The result of playing the stream.
    func play(_ words: [String] = []) async throws -> ToolProcess.Outcome {
        try await ToolProcess.run(
            ["play", playlist, "--vendor", profile.identifier]
                + settings.flatMap { ["--set", "\($0.key)=\($0.value)"] } + device + options + words)
    }

    /// Serves the transport stream as ranges of one file.
    /// - Parameter reply: receives the file and the range that was asked for.
    func serveRanges(_ reply: @escaping @Sendable (Data, Range<Int>) -> HTTPResponse) throws {
        var text = ""
        try rewritePlaylists { name, original in
            if name == "video.m3u8" { text = original }
            return original
        }
        var file = Data()
        var lines: [String] = []
        for line in text.split(separator: "\n") {
            guard line.hasSuffix(".ts") else {
                lines.append(String(line))
                continue
            }
            let segment = try Data(contentsOf: folder.file("stream/\(line)"))
            lines += ["#EXT-X-BYTERANGE:\(segment.count)@\(file.count)", "all.ts"]
            file += segment
        }
        let (list, all) = (lines.joined(separator: "\n") + "\n", file)
        let address = try serve { request in
            guard request.path == "/all.ts" else {
                return HTTPResponse(contentType: "application/vnd.apple.mpegurl", bytes: Data(list.utf8))
            }
            let bounds = (request.headers["Range"] ?? "").dropFirst("bytes=".count).split(separator: "-").compactMap {
                Int($0)
            }
            guard bounds.count == 2, bounds[0] <= bounds[1], bounds[1] < all.count else {
                return .text("", status: 416)
            }
            return reply(all, bounds[0]..<bounds[1] + 1)
        }
        playlist = "\(address)/v.m3u8"
    }
}
