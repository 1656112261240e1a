import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How a preload uses the playlists of a stream.
@Suite(.timeLimit(.minutes(5))) struct PreloadPlaylistTests {
    private typealias Stream = PreloadStream

    private func harness(_ transport: FakeTransport = PreloadStream.transport()) -> Harness { Harness(over: transport) }

    @Test func `an unreadable stream is a value that shows no token`() async {
        let harness = harness(Stream.transport(["master.m3u8": .status(403)]))
        let result = await harness.loader.preload(Stream.address)
        #expect(result.keys.isEmpty && result.end == .complete)
        #expect(result.unread.map(\.code) == ["playlistUnreadable"])
        #expect(
            result.unread.first?.reason
                == "https://cdn.example.com/master.m3u8: The server answered with status 403.")
    }

    @Test(arguments: [
        ("audio.m3u8", FakeTransport.Step.ok("<html>"), "playlistUnreadable"),
        ("audio.m3u8", .failure(TransportError(.hostNotFound, "Unknown.")), "hostNotFound"),
        ("audio.m3u8", .ok(Data(count: 5_000)), "bodyTooLarge"),
        ("audio.m3u8", .status(302, [("Location", "http://127.0.0.1/x.m3u8")]), "playlistUnreadable"),
        ("audio.m3u8", .status(302, [("Location", "audio.m3u8")]), "playlistUnreadable"),
        ("audio.m3u8", .status(302, [("Location", "file:///etc/passwd")]), "playlistUnreadable"),
    ])
    func `an unreadable media playlist leaves the others`(
        _ name: String, _ step: FakeTransport.Step, _ code: String
    ) async {
        let harness = harness(Stream.transport([name: step]))
        let result = await harness.loader.preload(Stream.address, limits: PreloadLimits(playlistBytes: 4_096))
        #expect(result.keys.map(\.uri) == [Stream.session, Stream.video])
        #expect(result.unread.map(\.code) == [code])
    }

    @Test func `a missing playlist costs the time of one attempt`() async {
        var profile = VendorProfile.raw
        profile.certificate = .inline(setting: "certificate")
        profile.settings["certificate"] = SampleBytes.certificate.base64EncodedString()
        let harness = Harness(profile.unchecked, get: [.hang]) { $0.retry.attemptTimeout = .seconds(5) }
        async let result = harness.loader.preload(Stream.address)
        await harness.advance([.seconds(5)])
        #expect(await result.unread.map(\.code) == ["timedOut"])
        #expect(await result.end == .complete)
    }

    @Test func `the next key that a live playlist names is also prepared`() async {
        let next: KeyURI = "skd://fairplay-license.vudrm.tech/license/next"
        let hint = ##"#EXT-X-PRELOAD-HINT:TYPE=KEY,URI="\##(next)",KEYFORMAT="com.apple.streamingkeydelivery"\##n"##
        let other = ##"#EXT-X-PRELOAD-HINT:TYPE=KEY,URI="next.key",METHOD=AES-128\##n"##
        let harness = harness(
            Stream.transport([
                "video.m3u8": .ok(Stream.media([Stream.video]) + hint),
                "audio.m3u8": .ok(Stream.media([Stream.audio]) + other),
            ]))
        let result = await harness.loader.preload(Stream.address)
        #expect(result.keys.map(\.uri) == [Stream.session, Stream.audio, Stream.video, next])
    }

    @Test func `playlists follow redirects without credentials`() async {
        let harness = harness(
            Stream.transport([
                "master.m3u8": .status(302, [("Location", "https://edge.example.net/a/other.m3u8")]),
                "other.m3u8": .ok(Stream.master),
            ]))
        let result = await harness.loader.preload(Stream.address)
        #expect(result.keys.count == 3)
        let playlists = harness.transport.requests.filter { $0.url?.pathExtension == "m3u8" }
        let paths = playlists.map(\.url?.path)
        #expect(paths.prefix(2) == ["/master.m3u8", "/a/other.m3u8"])
        #expect(Set(paths.dropFirst(2)) == ["/a/audio.m3u8", "/a/video.m3u8"] && paths.count == 4)
        #expect(playlists.allSatisfy { ($0.allHTTPHeaderFields ?? [:]).isEmpty })
        #expect(harness.credentials.reasons.isEmpty)
    }

    @Test func `the app's closure loads the playlists and says where they are`() async throws {
        let asked = Locked<[URL]>([])
        let harness = Harness(over: Stream.transport()) {
            $0.playlist = { url in
                asked.withLock { $0.append(url) }
                let isFirst = url.lastPathComponent == "master.m3u8"
                let place = isFirst ? try #require(URL(string: "https://edge.example.net/a/other.m3u8")) : url
                let reply = try #require(
                    HTTPURLResponse(url: place, statusCode: 200, httpVersion: nil, headerFields: nil))
                return (Data((isFirst ? Stream.master : Stream.media([Stream.audio])).utf8), reply)
            }
        }
        #expect(try await harness.loader.keys(of: Stream.address) == [Stream.session, Stream.audio])
        #expect(asked.withLock { $0 }.map(\.path).sorted() == ["/a/audio.m3u8", "/a/video.m3u8", "/master.m3u8"])
        let result = await harness.loader.preload(Stream.address)
        #expect(result.keys.map(\.uri) == [Stream.session, Stream.audio] && result.unread.isEmpty)
        #expect(!harness.transport.requests.contains { $0.url?.pathExtension == "m3u8" })
    }

    @Test(arguments: [403, 200]) func `the closure's replies are checked`(_ status: Int) async {
        let harness = Harness(over: Stream.transport()) {
            $0.playlist = { url in
                let reply = HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil)
                return (Data(Stream.master.utf8) + Data(count: status == 200 ? 5_000 : 0), try #require(reply))
            }
        }
        let result = await harness.loader.preload(Stream.address, limits: PreloadLimits(playlistBytes: 4_096))
        #expect(result.unread.map(\.code) == [status == 200 ? "bodyTooLarge" : "playlistUnreadable"])
    }

    @Test func `no event shows a playlist's token`() async {
        let harness = harness()
        let events = harness.loader.events()
        _ = await harness.loader.preload(Stream.address)
        harness.loader.answer(FakeKeyRequest(key))
        #expect(await events.untilAnswered().allSatisfy { !"\($0)".contains("s3cr3t") })
    }
}
