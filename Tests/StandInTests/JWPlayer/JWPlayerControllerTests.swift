import Foundation
import JWPlayer_iOS_SDK
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import StandInPlayers
import Testing

/// Tests of the stand-in for version 3 of JW Player's SDK.
@Suite(.timeLimit(.minutes(5))) struct JWPlayerControllerTests {
    @Test func `empty data is a failure, and the delegate gets it`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let source = OldSource(fixture.server) { _, answer in answer(Data(), nil, nil) }
            let delegate = Listener()
            let config = JWConfig(contentURL: StandInFixture.playlist(of: .transportStream).absoluteString)
            let player = JWPlayerController(config: config, delegate: delegate, drmDataSource: source)
            await #expect(throws: NSError.self) { try await player?.standIn.finished() }
            await fixture.log.untilCallback("onError")
            #expect(delegate.errors.withLock { $0 } == 1)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `another stream replaces the first`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let source = OldSource(fixture.server)
            let config = JWConfig(contentURL: StandInFixture.playlist(of: .transportStream).absoluteString)
            let player = try #require(JWPlayerController(config: config, delegate: nil, drmDataSource: source))
            player.load(JWConfig(contentURL: StandInFixture.playlist(of: .rotation).absoluteString))
            player.play()
            let result = try await player.standIn.finished()
            #expect(result.isRight && result.keyURIs.count == 2)
            withExtendedLifetime(source) {}
        }
    }
}

/// Counts the errors that a player reports.
private final class Listener: NSObject, JWPlayerDelegate, Sendable {
    let errors = Locked(0)

    func onError(_ event: any JWEvent & JWErrorEvent) { errors.withLock { $0 += 1 } }
}
