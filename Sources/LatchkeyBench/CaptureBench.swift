import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport

/// The time to read a browser's capture and to identify its requests: most of `latchkey doctor --har`.
///
/// The capture is typical of a page: scripts, segments, a player's beacons, playlists, and some licenses.
struct CaptureBench: Sendable {
    let archive: Data

    init() throws {
        let exchanges =
            (0..<8).map { Self.reply("segment/\($0).m4s", Self.noise(200_000)) }
            + (0..<24).map { Self.reply("script/\($0).js", Data(Self.script.utf8)) }
            + (0..<800).map {
                Self.post("beacon?n=\($0)", Data(#"{"event":"time","at":\#($0),"session":"abcdefgh"}"#.utf8))
            }
            + (0..<400).map { Self.reply("v/\($0 % 4).m3u8", Data(Self.playlist.utf8)) }
            + (0..<60).map { _ in
                Self.post("license", Data([0, 0, 0, 1]) + Self.noise(1_004), Data([0, 0, 0, 1]) + Self.noise(296))
            }
        archive = try JSONSerialization.data(withJSONObject: ["log": ["entries": exchanges]])
    }

    var megabytes: Double { Double(archive.count) / 1e6 }

    /// The processor time of reading and identifying, and of a JSON parser alone, in seconds.
    func times() throws -> (own: Double, other: Double) {
        let start = Stopwatch.processTime
        let capture = try TrafficCapture(archive)
        _ = VendorIdentification().identify(capture)
        let middle = Stopwatch.processTime
        _ = try JSONSerialization.jsonObject(with: archive)
        return (middle - start, Stopwatch.processTime - middle)
    }

    private static func reply(_ path: String, _ body: Data) -> [String: Any] {
        [
            "request": ["method": "GET", "url": "https://cdn.example.com/\(path)", "headers": []],
            "response": ["status": 200, "headers": [], "content": content(body)],
        ]
    }

    private static func post(_ path: String, _ body: Data, _ reply: Data = Data("{}".utf8)) -> [String: Any] {
        [
            "request": ["method": "POST", "url": "https://api.example.com/\(path)", "postData": content(body)],
            "response": ["status": 200, "headers": [], "content": content(reply)],
        ]
    }

    private static func content(_ body: Data) -> [String: Any] {
        if let text = String(data: body, encoding: .utf8) { return ["size": body.count, "text": text] }
        return ["size": body.count, "text": body.base64EncodedString(), "encoding": "base64"]
    }

    private static func noise(_ count: Int) -> Data {
        var random = SeededGenerator(seed: UInt64(count))
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    private static let script = (0..<900).map { "function f\($0)(b){return \"x\"+b*\($0);}\n" }.joined()
    private static let playlist =
        "#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + (0..<60).map { "#EXTINF:6,\nsegment/\($0).m4s\n" }.joined()
}

extension Bench {
    func captures() throws -> [Figure] {
        progress("Reading a browser's capture")
        let bench = try CaptureBench()
        let pairs = try (0..<rounds).map { _ in try bench.times() }
        let each = (pairs.map(\.own).median ?? 0) / bench.megabytes * 1_000
        return [
            .share(
                "Reading a capture, of parsing its JSON alone", pairs.map { ($0.own * 1_000, $0.other * 1_000) }
            ) {
                "\($0) ms of processor time of \($1) ms, for \(bench.megabytes.shown(places: 1)) MB"
            },
            Figure(
                name: "Reading a capture, for each MB", value: each, unit: .milliseconds, aim: .below(100),
                note: "processor time"),
        ]
    }
}
