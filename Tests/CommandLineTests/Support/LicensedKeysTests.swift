import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

/// `latchkey doctor --har` counts keys, not licenses: one key that was licensed twice does not stand for another.
@Suite(.timeLimit(.minutes(3))) struct LicensedKeysTests {
    private typealias Traffic = RecordedTraffic

    /// A stream of two keys and its certificate.
    private static func twoKeys(
        _ first: String = "skd://movie-1", _ second: String = "skd://movie-10"
    ) async throws -> Traffic {
        let segments = [first, second].map { key in
            """
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="\(key)",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"
            #EXTINF:6,
            \(key == first ? 1 : 2).ts

            """
        }
        let text = "#EXTM3U\n#EXT-X-VERSION:5\n#EXT-X-TARGETDURATION:6\n\(segments.joined())#EXT-X-ENDLIST\n"
        return try await Traffic().adding(
            "GET", "https://cdn.example.com/v/v.m3u8", status: 200, ["Content-Type": "application/vnd.apple.mpegurl"],
            .text(text)
        ).certificate()
    }

    /// A license request with its own SPC.
    private static func licensed(
        _ traffic: Traffic, _ number: UInt8, at url: String = "https://a.example/l", _ headers: [String: String] = [:]
    ) async throws -> Traffic {
        var spc = try await Traffic.parts.spc
        // The vector of the SPC's payload.
        spc[spc.startIndex + 8] = number
        return traffic.adding(
            "POST", url, ["Content-Type": "application/octet-stream"].merging(headers) { $1 }, .base64(spc),
            status: 200, [:], .base64(try await Traffic.parts.ckc))
    }

    /// How a request may name its key.
    enum Place: String, CaseIterable, Sendable {
        case query, path, header, token, encodedQuery

        func request(for key: String) -> (url: String, headers: [String: String]) {
            switch self {
            case .query: ("https://a.example/l?assetId=\(key)", [:])
            case .path: ("https://a.example/l/\(key)/fairplay", [:])
            case .header: ("https://a.example/l", ["x-key": key.uppercased()])
            case .token: ("https://a.example/l", ["x-token": Data(#"{"id":"\#(key)"}"#.utf8).base64EncodedString()])
            case .encodedQuery: ("https://a.example/l?uri=skd%3A%2F%2F\(key)", [:])
            }
        }
    }

    @Test(arguments: Place.allCases)
    func `a key that was licensed twice does not count for another`(place: Place) async throws {
        let (first, second) = (place.request(for: "movie-1"), place.request(for: "movie-10"))
        let once = try await Self.licensed(Self.twoKeys(), 1, at: first.url, first.headers)
        let twice = try await Self.licensed(once, 2, at: first.url, first.headers)
        let lacking = try await twice.diagnosed()
        #expect(lacking.status == .unknown && lacking.cause == nil, "\(lacking.output)")
        #expect(lacking.output.contains("1 of the stream's 2 keys has no license in the capture: skd://movie-10."))
        let both = try await Self.licensed(twice, 3, at: second.url, second.headers).diagnosed()
        #expect(both.status == .yes, "\(both.output)")
    }

    @Test func `requests without a key name count by their SPCs, one for each key`() async throws {
        let one = try await Self.licensed(Self.twoKeys(), 1)
        let again = try await Self.licensed(one, 1).diagnosed()
        #expect(again.status == .unknown && again.output.contains("1 of the stream's 2 keys"), "\(again.output)")
        let two = try await Self.licensed(one, 2)
        let right = try await two.diagnosed()
        #expect(right.status == .yes, "\(right.output)")
        let three = try await Self.licensed(two, 3).diagnosed()
        #expect(three.status == .unknown && three.cause == nil, "\(three.output)")
        #expect(three.output.contains("3 licenses came for 2 keys, and the requests do not say which key each is for"))
    }

    @Test func `a profile's content identifier names the key`() async throws {
        let first = "00112233-4455-6677-8899-aabbccddeeff", second = "ffeeddcc-bbaa-9988-7766-554433221100"
        let keys = try await Self.twoKeys("skd://fps.ezdrm.com/;\(first)", "skd://fps.ezdrm.com/;\(second)")
        func url(_ id: String) -> String { "https://fps.ezdrm.com/api/licenses/\(id)" }
        let once = try await Self.licensed(keys, 1, at: url(first))
        let lacking = try await Self.licensed(once, 2, at: url(first)).diagnosed("--vendor", "ezdrm")
        #expect(lacking.status == .unknown && lacking.output.contains("1 of the stream's 2 keys"), "\(lacking.output)")
        let both = try await Self.licensed(once, 2, at: url(second)).diagnosed("--vendor", "ezdrm")
        #expect(both.status == .yes, "\(both.output)")
    }
}
