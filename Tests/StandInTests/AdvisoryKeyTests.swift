import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// Tests of advisory keys, according to Apple's pages.
@Suite(.timeLimit(.minutes(5))) struct AdvisoryKeyTests {
    @Test func `a session that supports advisory keys raises where SPCs are made by the old call`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = App(AppDelegate(fixture.server))
            app.session.supportsAdvisoryKeys = true
            await #expect(throws: (any Error).self) { try await app.play() }
            #expect(fixture.log.brokenRules.contains(.advisoryKeysIgnored))
        }
    }

    @Test func `advisory keys cannot be turned off again`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = App(AppDelegate(fixture.server))
            #expect(!app.session.supportsAdvisoryKeys)
            app.session.supportsAdvisoryKeys = true
            app.session.supportsAdvisoryKeys = false
            #expect(app.session.supportsAdvisoryKeys)
            #expect(fixture.log.brokenRules == [.advisoryKeysTurnedOff])
        }
    }

    @Test func `a key that the system has comes with neither an SPC nor an error, and an answer to it is one too many`()
        async throws
    {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let first = App(AppDelegate(fixture.server))
            _ = try await first.play()
            first.session.standIn.keepAdvisoryKey("skd://demo/video")

            let given = Locked<[Bool]>([])
            let second = App(
                ScriptedDelegate { [server = fixture.server] _, request in
                    request.makeOptionalStreamingContentKeyRequestData(
                        forApp: server.certificate, contentIdentifier: Data("skd://demo/video".utf8)
                    ) { spc, error in
                        given.withLock { $0 += [spc == nil, error == nil, request.canBeFulfilledWithAdvisoryKey] }
                        request.processContentKeyResponseError(CocoaError(.featureUnsupported))
                    }
                })
            second.session.supportsAdvisoryKeys = true
            let result = try await second.play()
            #expect(result.isRight)
            #expect(given.withLock { $0 } == [true, true, true])
            #expect(fixture.log.brokenRules == [.answeredTwice])
        }
    }
}
