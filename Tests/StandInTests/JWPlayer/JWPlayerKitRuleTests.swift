import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import StandInPlayers
import Testing

/// Each rule of JWPlayerKit, broken once.
@Suite struct JWPlayerKitRuleTests {
    private func broken(
        _ change: @escaping @Sendable (inout KitSource.Script, Studio) -> Void
    ) async throws -> [RuleViolation.Rule] {
        let studio = try Studio()
        await studio.stage.run {
            let app = KitApp(studio) { change(&$0, studio) }
            _ = try? await app.play()
        }
        return studio.log.brokenRules
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
        let rules = try await broken { script, studio in
            script.key = { spc, answer in answer(try? studio.server.license(for: spc), studio.time.date, nil) }
        }
        #expect(rules == [.renewalDateWithoutType])
    }

    @Test func `a data source that is set after the player is configured is noticed`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let view = JWPlayerView()
            view.player.configurePlayer(with: try KitApp.configuration(Studio.playlist(of: .transportStream)))
            let source = KitSource(studio.server)
            view.player.contentKeyDataSource = source
            view.player.play()
            _ = try? await view.standIn.finished()
            withExtendedLifetime(source) {}
        }
        #expect(studio.log.brokenRules.contains(.delegateSetLate))
    }

    @Test func `a data source that nobody keeps is noticed`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let view = JWPlayerView()
            do { view.player.contentKeyDataSource = KitSource(studio.server) }
            view.player.configurePlayer(with: try KitApp.configuration(Studio.playlist(of: .transportStream)))
            view.player.play()
            await #expect(throws: JWError.self) { try await view.standIn.finished() }
        }
        #expect(studio.log.brokenRules == [.delegateGone])
    }

    @Test func `a call that does not return is noticed`() async throws {
        let studio = try Studio(callbackLimit: .milliseconds(1))
        try await studio.stage.run {
            let mayReturn = DispatchSemaphore(value: 0)
            let app = KitApp(studio) { script in
                script.identifier = { url, answer in
                    mayReturn.wait()
                    answer(Data(url.absoluteString.utf8))
                }
            }
            app.view.player.configurePlayer(with: try KitApp.configuration(Studio.playlist(of: .transportStream)))
            await studio.log.untilViolation(.blockedCallback)
            mayReturn.signal()
            withExtendedLifetime(app) {}
        }
    }
}
