import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import StandInEngine
import Testing

/// Tests of the playback that all stand-ins share.
@Suite(.timeLimit(.minutes(5))) struct StandInPlaybackTests {
    @Test func `a stream plays from a web server with one request per key`() async throws {
        let fixture = try StandInFixture()
        let media = MediaHost(folder: DemoAsset.folder)
        let server = HTTPServer { media.respond(to: $0) }
        let port = try server.start()
        let asked = Locked<[KeyURI]>([])
        let result = try await StandInPlayback(on: fixture.stage)
            .play("http://127.0.0.1:\(port)/two-keys/master.m3u8") { uri in
                asked.withLock { $0.append(uri) }
                return try fixture.key(for: uri)
            }
        await server.stop(within: .zero)
        #expect(result.isRight)
        #expect(result.frameCount == 150)
        #expect(Set(asked.withLock { $0 }) == ["skd://demo/video", "skd://demo/audio"])
        #expect(asked.withLock { $0.count } == 2)
    }

    @Test func `the picture shows a wrong key`() async throws {
        let fixture = try StandInFixture()
        let result = try await StandInPlayback(on: fixture.stage)
            .play(StandInFixture.playlist(of: .transportStream).path) { _ in try fixture.key(for: "skd://demo/audio") }
        #expect(!result.isRight)
    }

    @Test func `a stream decoded with the right key is not right with another`() async throws {
        let fixture = try StandInFixture()
        let address = StandInFixture.playlist(of: .transportStream).path
        let player = StandInPlayback(on: fixture.stage)
        let right = try await player.play(address) { try fixture.key(for: $0) }
        let wrong = try await player.play(address) { _ in try fixture.key(for: "skd://demo/audio") }
        let again = try await player.play(address) { try fixture.key(for: $0) }
        #expect(right.isRight && !wrong.isRight && again.isRight)
        #expect(again.frameCount == right.frameCount)
    }

    @Test func `an error of the key's source is thrown`() async throws {
        let fixture = try StandInFixture()
        await #expect(throws: CancellationError.self) {
            try await StandInPlayback(on: fixture.stage)
                .play(StandInFixture.playlist(of: .rotation).path) { _ in throw CancellationError() }
        }
    }

    @Test func `a missing playlist is an error`() async throws {
        let fixture = try StandInFixture()
        await #expect(throws: Diagnosis.self) {
            try await StandInPlayback(on: fixture.stage).play("/missing.m3u8") { try fixture.key(for: $0) }
        }
    }

    @Test func `a stage is current only where it runs`() async throws {
        let stage = StandInStage()
        await stage.run { #expect(StandInStage.current === stage) }
        #expect(StandInStage.current == nil)
    }
}

extension StandInFixture {
    fileprivate func key(for uri: KeyURI) throws -> ContentKey {
        let exchange = StandInExchange(.streaming, on: stage)
        let spc = try exchange.makeSPC(certificate: server.certificate, contentIdentifier: Data(uri.raw.utf8))
        return try exchange.open(server.license(for: spc)).contentKey
    }
}
