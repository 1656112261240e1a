import Foundation
import LatchkeyCore
@_spi(Adapters) import LatchkeyTesting
import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Which playlists are read to find the keys that a player still needs.
@Suite(.timeLimit(.minutes(5))) struct RotationPlaylistTests {
    private static let stream = PreloadStream.address

    private static func uri(_ name: String) -> KeyURI { KeyURI("skd://fairplay-license.vudrm.tech/license/\(name)") }

    /// A live stream with a ladder: the key of each variant, from the lowest quality to the highest.
    private static func harness(_ keys: [String]) -> Harness {
        var master = "#EXTM3U\n"
        var playlists: [String: FakeTransport.Step] = [:]
        for (index, key) in keys.enumerated() {
            master += "#EXT-X-STREAM-INF:BANDWIDTH=\(index)\n\(index).m3u8\n"
            playlists["\(index).m3u8"] = .ok(PreloadStream.media([uri(key)]))
        }
        playlists["master.m3u8"] = .ok(master)
        return Harness(over: PreloadStream.transport(playlists))
    }

    /// Reads the playlists, for a player that holds keys.
    /// - Returns: the keys that they name, and how many were read.
    private func review(
        _ harness: Harness, holding keys: [String] = []
    ) async -> (named: Set<KeyURI>?, reads: Int) {
        for key in keys { _ = await harness.answer(FakeKeyRequest(Self.uri(key))) }
        let reads = { harness.transport.requests.count { $0.url?.pathExtension == "m3u8" } }
        let before = reads()
        let named = await harness.loader.keysNow(in: Self.stream, heldBy: .only)
        return (named, reads() - before)
    }

    @Test func `the ends of a ladder are read, once a minute`() async {
        let harness = Self.harness(["a", "a", "a", "a", "a", "a"])
        let first = await review(harness, holding: ["a"])
        #expect(first.named == [Self.uri("a")] && first.reads == 3)
        #expect(await review(harness).reads == 0)
        harness.clock.advance(by: .seconds(60))
        #expect(await review(harness).reads == 3)
    }

    @Test func `a held key that the ends do not name is looked for in the whole pathway`() async {
        let harness = Self.harness(["a", "a", "odd", "a", "a"])
        let first = await review(harness, holding: ["a", "odd"])
        #expect(first.named == [Self.uri("a"), Self.uri("odd")] && first.reads == 3 + 6)
        harness.clock.advance(by: .seconds(60))
        // From now on the ends are known not to be enough.
        let second = await review(harness)
        #expect(second.named == first.named && second.reads == 6)
    }

    @Test func `a key that no playlist names is looked for once`() async {
        let harness = Self.harness(["a", "a", "a", "a", "a"])
        let first = await review(harness, holding: ["a", "gone"])
        #expect(first.named == [Self.uri("a")] && first.reads == 3 + 6)
        harness.clock.advance(by: .seconds(60))
        #expect(await review(harness).reads == 3)
    }

    @Test func `keys due together share their reads`() async {
        let harness = Self.harness(["a", "a", "a", "a"])
        let loader = harness.loader
        async let first = loader.keysNow(in: Self.stream, heldBy: .only)
        async let second = loader.keysNow(in: Self.stream, heldBy: .only)
        let named = await [first, second]
        #expect(named.allSatisfy { $0 == [Self.uri("a")] })
        #expect(harness.transport.requests.count { $0.url?.pathExtension == "m3u8" } == 3)
    }

    @Test func `an unreadable stream names no keys`() async {
        let harness = Harness(over: PreloadStream.transport(["audio.m3u8": .status(403)]))
        #expect(await review(harness).named == nil)
    }
}
