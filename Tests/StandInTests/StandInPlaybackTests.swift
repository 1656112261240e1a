import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyPlayback
import LatchkeyServer
import LatchkeySimulation
import StandInEngine
import Testing

/// The playback that all stand-ins share.
@Suite struct StandInPlaybackTests {
    @Test func `a stream plays from a web server, each key asked for once`() async throws {
        let studio = try Studio()
        let media = MediaHost(folder: DemoAsset.folder)
        let server = HTTPServer { media.respond(to: $0) }
        let port = try server.start()
        let asked = Locked<[KeyURI]>([])
        let result = try await StandInPlayback(on: studio.stage)
            .play("http://127.0.0.1:\(port)/two-keys/master.m3u8") { uri in
                asked.withLock { $0.append(uri) }
                return try studio.key(for: uri)
            }
        await server.stop(within: .zero)
        #expect(result.isRight)
        #expect(result.frameCount == 150)
        #expect(Set(asked.withLock { $0 }) == ["skd://demo/video", "skd://demo/audio"])
        #expect(asked.withLock { $0.count } == 2)
    }

    @Test func `a wrong key is told from the picture`() async throws {
        let studio = try Studio()
        let result = try await StandInPlayback(on: studio.stage)
            .play(Studio.playlist(of: .transportStream).path) { _ in try studio.key(for: "skd://demo/audio") }
        #expect(!result.isRight)
    }

    @Test func `what the key's source throws is thrown`() async throws {
        let studio = try Studio()
        await #expect(throws: CancellationError.self) {
            try await StandInPlayback(on: studio.stage)
                .play(Studio.playlist(of: .rotation).path) { _ in throw CancellationError() }
        }
    }

    @Test func `a playlist that is not there is an error`() async throws {
        let studio = try Studio()
        await #expect(throws: PlaybackError.self) {
            try await StandInPlayback(on: studio.stage).play("/missing.m3u8") { try studio.key(for: $0) }
        }
    }

    @Test func `a stage is current where it runs, and nowhere else`() async throws {
        let stage = StandInStage()
        await stage.run { #expect(StandInStage.current === stage) }
        #expect(StandInStage.current == nil)
    }
}

extension Studio {
    fileprivate func key(for uri: KeyURI) throws -> ContentKey {
        let exchange = StandInExchange(.streaming, on: stage)
        let spc = try exchange.makeSPC(certificate: server.certificate, contentIdentifier: Data(uri.raw.utf8))
        return try exchange.open(server.license(for: spc)).contentKey
    }
}
