import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import StandInPlayers
import Testing

/// Each rule of JWPlayerKit, violated once.
@Suite(.timeLimit(.minutes(5))) struct JWPlayerKitRuleTests {
    private func broken(
        _ change: @escaping @Sendable (inout KitSource.Script, StandInFixture) -> Void
    ) async throws -> [RuleViolation.Rule] {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = KitApp(fixture) { change(&$0, fixture) }
            _ = try? await app.play()
        }
        return fixture.log.brokenRules
    }

    @Test func `a handler that is called twice is noticed`() async throws {
        let rules = try await broken { script, _ in
            script.identifier = { url, answer in
                answer(Data(url.absoluteString.utf8))
                answer(Data(url.absoluteString.utf8))
            }
        }
        #expect(rules == [.completedTwice])
    }

    @Test func `a handler that is dropped is noticed`() async throws {
        #expect(try await broken { script, _ in script.certificate = { _, _ in } } == [.unanswered])
    }

    @Test func `a date without a content type is noticed, and renews nothing`() async throws {
        let rules = try await broken { script, fixture in
            script.key = { spc, answer in answer(try? fixture.server.license(for: spc), fixture.time.date, nil) }
        }
        #expect(rules == [.renewalDateWithoutType])
    }

    @Test func `a data source that is set after the player is configured is noticed`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let view = JWPlayerView()
            view.player.configurePlayer(with: try KitApp.configuration(StandInFixture.playlist(of: .transportStream)))
            let source = KitSource(fixture.server)
            view.player.contentKeyDataSource = source
            view.player.play()
            _ = try? await view.standIn.finished()
            withExtendedLifetime(source) {}
        }
        #expect(fixture.log.brokenRules.contains(.delegateSetLate))
    }

    @Test func `a data source that nobody retains is noticed`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let view = JWPlayerView()
            do { view.player.contentKeyDataSource = KitSource(fixture.server) }
            view.player.configurePlayer(with: try KitApp.configuration(StandInFixture.playlist(of: .transportStream)))
            view.player.play()
            await #expect(throws: JWError.self) { try await view.standIn.finished() }
        }
        #expect(fixture.log.brokenRules == [.delegateGone])
    }

    @Test func `a call that does not return is noticed`() async throws {
        let fixture = try StandInFixture(callbackLimit: .milliseconds(1))
        try await fixture.stage.run {
            let mayReturn = DispatchSemaphore(value: 0)
            let app = KitApp(fixture) { script in
                script.identifier = { url, answer in
                    mayReturn.wait()
                    answer(Data(url.absoluteString.utf8))
                }
            }
            app.view.player.configurePlayer(
                with: try KitApp.configuration(StandInFixture.playlist(of: .transportStream)))
            await fixture.log.untilViolation(.blockedCallback)
            mayReturn.signal()
            withExtendedLifetime(app) {}
        }
    }
}
