import Foundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import THEOplayerSDK
import Testing

/// Each rule of THEOplayer's integrations, violated once.
@Suite(.timeLimit(.minutes(5))) struct THEOplayerRuleTests {
    private func broken(
        _ change: @escaping @Sendable (inout TestIntegration.Script) -> Void
    ) async throws -> [RuleViolation.Rule] {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            await fixture.stage.run {
                let player = THEOplayer.playing(.transportStream, TestIntegration(fixture.server, demo, change))
                _ = try? await player.standIn.finished()
            }
        }
        return fixture.log.brokenRules
    }

    @Test func `a callback that is answered twice is noticed`() async throws {
        let rules = try await broken { script in
            script.identifier = {
                $1.respond(contentID: Data($0.utf8))
                $1.respond(contentID: nil)
            }
        }
        #expect(rules == [.answeredTwice])
    }

    @Test func `a request hook that both requests and responds is noticed`() async throws {
        let rules = try await broken { script in
            let certificateRequest = script.certificateRequest
            script.certificateRequest = {
                certificateRequest($0, $1)
                $1.respond(certificate: Data())
            }
        }
        #expect(rules == [.answeredTwice])
    }

    @Test func `a callback that is dropped is noticed`() async throws {
        #expect(try await broken { $0.licenseRequest = { _, _ in } } == [.unanswered])
    }

    @Test func `an error without domain and text is noticed`() async throws {
        struct Refusal: Error {}
        #expect(try await broken { $0.licenseRequest = { $1.error(error: Refusal()) } } == [.errorWithoutText])
    }

    @Test func `a failed reply that is handed on as a license is noticed`() async throws {
        let fixture = try StandInFixture()
        try await DemoServer.run(fixture.server) { demo in
            demo.refuseLicenses(with: 500)
            await fixture.stage.run {
                let integration = TestIntegration(fixture.server, demo) {
                    $0.licenseResponse = { $1.respond(license: $0.body) }
                }
                let player = THEOplayer.playing(.transportStream, integration)
                await #expect(throws: (any Error).self) { try await player.standIn.finished() }
            }
        }
        #expect(fixture.log.brokenRules == [.failedReplyPassedOn])
    }

    @Test func `a hook that does not return is noticed`() async throws {
        let fixture = try StandInFixture(callbackLimit: .milliseconds(1))
        await fixture.stage.run {
            let mayReturn = DispatchSemaphore(value: 0)
            let integration = TestIntegration(fixture.server) { script in
                script.identifier = {
                    mayReturn.wait()
                    $1.respond(contentID: Data($0.utf8))
                }
            }
            let player = THEOplayer.playing(.transportStream, integration)
            await fixture.log.untilViolation(.blockedCallback)
            mayReturn.signal()
            _ = try? await player.standIn.finished()
        }
    }
}
