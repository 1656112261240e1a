import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport

/// The time to read a browser's capture and to identify its requests: most of `latchkey doctor --har`.
///
/// The capture is typical of a page: scripts, segments, a player's beacons, playlists, and some licenses.
struct CaptureBench: Sendable {
    let archive: Data

    /// - Parameter size: its length, in units of about 1 MB. Defaults to that of a page.
    init(size: Int = 4) throws {
        let exchanges =
            (0..<2 * size).map { Self.reply("segment/\($0).m4s", Self.noise(200_000)) }
            + (0..<6 * size).map { Self.reply("script/\($0).js", Data(Self.script.utf8)) }
            + (0..<200 * size).map {
                Self.post("beacon?n=\($0)", Data(#"{"event":"time","at":\#($0),"session":"abcdefgh"}"#.utf8))
            }
            + (0..<100 * size).map { Self.reply("v/\($0 % 4).m3u8", Data(Self.playlist.utf8)) }
            + (0..<15 * size).map { _ in
                Self.post("license", Data([0, 0, 0, 1]) + Self.noise(1_004), Data([0, 0, 0, 1]) + Self.noise(296))
            }
        archive = try JSONSerialization.data(withJSONObject: ["log": ["entries": exchanges]])
    }

    var megabytes: Double { Double(archive.count) / 1e6 }

    /// The processor time of reading and identifying, and of a JSON parser alone, in seconds.
    func times() throws -> (own: Double, other: Double) {
        let start = Stopwatch.processTime
        try identify()
        let middle = Stopwatch.processTime
        _ = try JSONSerialization.jsonObject(with: archive)
        return (middle - start, Stopwatch.processTime - middle)
    }

    func identify() throws { _ = VendorIdentification().identify(try TrafficCapture(archive)) }

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

/// The allocations of reading a capture, for each of its KB.
struct CaptureCount: Codable, Sendable, Equatable {
    let short: AllocationCount
    /// Of a capture that is twice as long.
    let long: AllocationCount

    var figures: [Figure] {
        AllocationBudget.capture.figures(long) + [
            Figure(
                name: "Allocations for a KB of a capture twice as long, of those for a KB",
                value: long.allocations / short.allocations, unit: .share, aim: .atMost(1.1)),
            Figure(
                name: "Allocated bytes for a KB of a capture twice as long, of those for a KB",
                value: long.bytes / short.bytes, unit: .share, aim: .atMost(1.1)),
        ]
    }
}
