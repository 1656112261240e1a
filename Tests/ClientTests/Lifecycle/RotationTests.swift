import Foundation
import LatchkeyCore
@_spi(Adapters) import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

/// Keys that rotate, with leases: which of them are renewed, and which lapse.
@Suite(.timeLimit(.minutes(5))) struct RotationTests {
    private static let lease = LicenseTerms(.lease(.seconds(600)))

    @Test func `a key that no playlist names lapses, and the keys of the playlists are renewed`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            var events = harness.loader.events().makeAsyncIterator()
            let player = RotatingPlayer(harness.loader)
            await player.ask(["a0", "v0"])
            try await harness.pass(.seconds(300))
            await player.ask(["a1", "v1"])
            player.name(["a1", "v1"])
            try await harness.pass(.seconds(900))
            #expect(player.lapsed == ["a0", "v0"])
            #expect(player.renewals == ["a1": 2, "v1": 2])
            while let event = await events.next() {
                guard event.kind.name == "evicted" else { continue }
                #expect(event.level == .warning)
                break
            }
        }
    }

    @Test func `an old key that a playlist still names is renewed in case a viewer seeks back`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let player = RotatingPlayer(harness.loader)
            player.name((0...20).map { "v\($0)" })
            await player.ask(["v0"])
            for number in 1...20 {
                try await harness.pass(.seconds(60))
                await player.ask(["v\(number)"])
            }
            try await harness.pass(.seconds(450))
            #expect(player.lapsed.isEmpty)
            #expect(player.renewals.count == 21)
        }
    }

    @Test func `a short lease outlives the player's buffer`() async throws {
        try await LeaseHarness.run(LicenseTerms(.lease(.seconds(40)))) { harness in
            let player = RotatingPlayer(harness.loader)
            await player.ask(["v0"])
            try await harness.pass(.seconds(25))
            await player.ask(["v1"])
            player.name(["v1"])
            // Its renewals are due every 30 s and half of that; it lapses when its lease ends a minute after it was first missed.
            try await harness.pass(.seconds(200))
            #expect(player.lapsed == ["v0"])
            #expect((1...3).contains(player.renewals["v0"] ?? 0))
        }
    }

    @Test func `keys requested together do not replace each other, and no playlist is read for them`() async throws {
        try await LeaseHarness.run(Self.lease, configure: { $0.leases.heldKeys = 1 }) { harness in
            let player = RotatingPlayer(harness.loader)
            await player.ask(["audio", "sd"])
            try await harness.pass(.seconds(5))
            await player.ask(["hd"])
            try await harness.pass(.seconds(460))
            #expect(player.renewals == ["audio": 1, "sd": 1, "hd": 1])
            #expect(player.looks == 0)
        }
    }

    @Test(arguments: [nil, ["of another stream"]] as [[String]?])
    func `without playlists the newest keys are renewed, as many as the policy says`(
        named: [String]?
    ) async throws {
        try await LeaseHarness.run(Self.lease, configure: { $0.leases.heldKeys = 3 }) { harness in
            let player = RotatingPlayer(harness.loader)
            player.name(named)
            for number in 0...4 {
                await player.ask(["v\(number)"])
                try await harness.pass(.seconds(20))
            }
            try await harness.pass(.seconds(450))
            #expect(player.lapsed == ["v0", "v1"])
            #expect(player.renewals == ["v2": 1, "v3": 1, "v4": 1])
        }
    }

    @Test func `another player's keys replace none`() async throws {
        try await LeaseHarness.run(Self.lease, configure: { $0.leases.heldKeys = 1 }) { harness in
            let (one, other) = (RotatingPlayer(harness.loader, "one"), RotatingPlayer(harness.loader, "other"))
            await one.ask(["v0"])
            try await harness.pass(.seconds(60))
            await other.ask(["w0", "w1"])
            try await harness.pass(.seconds(400))
            #expect(one.lapsed.isEmpty && one.renewals == ["v0": 1])
        }
    }

    @Test func `a resumed app asks only for the keys of the playlists`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let player = RotatingPlayer(harness.loader)
            await player.ask(["v0"])
            try await harness.pass(.seconds(60))
            await player.ask(["v1"])
            harness.loader.suspend(.only)
            harness.time.jump(by: .seconds(5_000))
            player.name(["v1"])
            harness.loader.resume(.only)
            try await harness.pass(.seconds(1))
            #expect(player.lapsed == ["v0"] && player.renewals == ["v1": 1])
        }
    }

    @Test func `a missing playlist leaves the key to the next attempt`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let player = RotatingPlayer(harness.loader)
            await player.ask(["v0"])
            try await harness.pass(.seconds(60))
            await player.ask(["v1"])
            player.look = { try? await harness.time.sleep(for: .seconds(3_600)) }
            try await harness.pass(.seconds(400))
            player.look = {}
            player.name(["v0", "v1"])
            try await harness.pass(.seconds(100))
            #expect(player.renewals["v0"] == 1 && player.ends.isEmpty)
        }
    }

    @Test func `an endless loader holds a bounded number of keys`() async throws {
        try await LeaseHarness.run(LicenseTerms()) { harness in
            let player = RotatingPlayer(harness.loader)
            await player.ask((0..<260).map { "v\($0)" })
            #expect(player.lapsed.count == 4 && player.lapsed.contains("v0"))
        }
    }
}

/// A player of a live stream, which holds each key until the end as AVPlayer does.
private final class RotatingPlayer: Sendable {
    private struct State {
        var named: Set<KeyURI>?
        var look: @Sendable () async -> Void = {}
        var looks = 0
        var renewals: [String: Int] = [:]
        var lapsed: Set<String> = []
        var ends: [ContentKeyError] = []
    }

    private let loader: ContentKeyLoader
    private let id: PlayerID
    private let state = Locked(State())

    init(_ loader: ContentKeyLoader, _ id: PlayerID = .only) { (self.loader, self.id) = (loader, id) }

    /// How often the playlists were asked for.
    var looks: Int { state.withLock { $0.looks } }
    /// The renewals of each key.
    var renewals: [String: Int] { state.withLock { $0.renewals } }
    var lapsed: Set<String> { state.withLock { $0.lapsed } }
    var ends: [ContentKeyError] { state.withLock { $0.ends } }

    /// The event while the playlists are read.
    var look: @Sendable () async -> Void {
        get { state.withLock { $0.look } }
        set { state.withLock { $0.look = newValue } }
    }

    /// Makes the playlists name keys.
    func name(_ keys: [String]?) { state.withLock { $0.named = keys.map { Set($0.map { Self.uri($0) }) } } }

    /// Asks for keys, and waits for them.
    func ask(_ keys: [String]) async {
        for key in keys { _ = await ask(key, .streaming).base.firstAnswer() }
    }

    @discardableResult
    private func ask(_ key: String, _ purpose: KeyPurpose) -> Request {
        let request = Request(FakeKeyRequest(Self.uri(key), purpose: purpose, player: id), key, self)
        loader.answer(request)
        return request
    }

    private static func uri(_ key: String) -> KeyURI { KeyURI("skd://keys.example.com/\(key)") }

    private struct Request: PlayerKeyRequest {
        let base: FakeKeyRequest
        let name: String
        let of: RotatingPlayer

        init(_ base: FakeKeyRequest, _ name: String, _ of: RotatingPlayer) {
            (self.base, self.name, self.of) = (base, name, of)
        }

        var keyURI: KeyURI { base.keyURI }
        var purpose: KeyPurpose { base.purpose }
        var player: PlayerID { base.player }

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
            try await base.makeSPC(certificate: certificate, contentIdentifier: contentIdentifier)
        }

        func answer(_ result: Result<Data, ContentKeyError>) { base.answer(result) }

        func renew() -> Bool {
            of.state.withLock { $0.renewals[name, default: 0] += 1 }
            of.ask(name, .renewal)
            return true
        }

        func keysInPlaylists() async -> Set<KeyURI>? {
            of.state.withLock { $0.looks += 1 }
            await of.look()
            return of.state.withLock { $0.named }
        }

        func lapsed() { of.state.withLock { _ = $0.lapsed.insert(name) } }
        func ended(_ error: ContentKeyError) { of.state.withLock { $0.ends.append(error) } }
    }
}
