import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// Each rule of `AVContentKeySession`, violated once.
@Suite(.timeLimit(.minutes(5))) struct SessionRuleTests {
    private let name = "skd://demo/video"
    private let refusal = NSError(domain: "app", code: 1)

    /// Runs a closure on a new stage and returns the rules that it violated.
    private func broken(_ body: (StandInFixture) async throws -> Void) async throws -> [RuleViolation.Rule] {
        let fixture = try StandInFixture()
        try await fixture.stage.run { try await body(fixture) }
        return fixture.log.brokenRules
    }

    /// A session whose delegate handles one request with a closure.
    private func brokenBy(
        _ script: @escaping @Sendable (AVContentKeySession, AVContentKeyRequest) -> Void
    ) async throws -> [RuleViolation.Rule] {
        try await broken { fixture in
            let app = App(ScriptedDelegate(script))
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didProvide")
            await fixture.log.until { !$0.violations.isEmpty }
            withExtendedLifetime(app) {}
        }
    }

    @Test func `a delegate without a queue is not taken`() async throws {
        let rules = try await broken { _ in
            let session = AVContentKeySession(keySystem: .fairPlayStreaming)
            session.setDelegate(ScriptedDelegate { _, _ in }, queue: nil)
            #expect(session.delegate == nil)
        }
        #expect(rules == [.delegateWithoutQueue])
    }

    @Test func `a concurrent delegate queue is noticed`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let bothThere = DispatchGroup()
            for _ in 0..<2 { bothThere.enter() }
            let delegate = ScriptedDelegate { [refusal] _, request in
                bothThere.leave()
                bothThere.wait()
                request.processContentKeyResponseError(refusal)
            }
            let queue = DispatchQueue(label: "app.concurrent", attributes: .concurrent)
            let app = App(delegate, on: queue, playing: StandInFixture.playlist(of: .transportStream))
            for name in ["skd://a", "skd://b"] {
                app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            }
            await fixture.log.untilViolation(.concurrentQueue)
            await fixture.log.untilCallback("didFail", times: 2)
        }
    }

    @Test func `a callback that does not return is noticed`() async throws {
        let fixture = try StandInFixture(callbackLimit: .milliseconds(20))
        await fixture.stage.run {
            let noticed = DispatchSemaphore(value: 0)
            let app = App(
                ScriptedDelegate { [refusal] _, request in
                    noticed.wait()
                    request.processContentKeyResponseError(refusal)
                })
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilViolation(.blockedCallback)
            noticed.signal()
            await fixture.log.untilCallback("didFail")
        }
    }

    @Test func `a recipient is not taken once its asset loads`() async throws {
        let rules = try await broken { fixture in
            let asset = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            let player = AVPlayer(playerItem: AVPlayerItem(asset: asset))
            let session = AVContentKeySession(keySystem: .fairPlayStreaming)
            session.addContentKeyRecipient(asset)
            #expect(session.contentKeyRecipients.isEmpty)
            withExtendedLifetime(player) {}
        }
        #expect(rules == [.recipientAddedLate])
    }

    @Test func `a recipient of one session is not taken by another`() async throws {
        let rules = try await broken { _ in
            let asset = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            let sessions = (0..<2).map { _ in AVContentKeySession(keySystem: .fairPlayStreaming) }
            for session in sessions + sessions.prefix(1) { session.addContentKeyRecipient(asset) }
            #expect(sessions.map(\.contentKeyRecipients.count) == [1, 0])
            sessions[0].removeContentKeyRecipient(asset)
            sessions[1].addContentKeyRecipient(asset)
            #expect(sessions.map(\.contentKeyRecipients.count) == [0, 1])
        }
        #expect(rules == [.recipientOfTwoSessions])
    }

    @Test func `a request without identifier and initialization data is not made`() async throws {
        let rules = try await broken { _ in
            AVContentKeySession(keySystem: .fairPlayStreaming)
                .processContentKeyRequest(withIdentifier: nil, initializationData: nil)
        }
        #expect(rules == [.requestWithoutIdentifier])
    }

    @Test func `an item of one player is not taken by another`() async throws {
        let rules = try await broken { _ in
            let item = AVPlayerItem(asset: AVURLAsset(url: StandInFixture.playlist(of: .transportStream)))
            let player = AVPlayer(playerItem: item)
            _ = AVPlayer(playerItem: item)
            await player.replaceCurrentItem(with: nil)
            _ = AVPlayer(playerItem: item)
        }
        #expect(rules == [.itemOfTwoPlayers])
    }

    @Test func `an expired session takes nothing`() async throws {
        let rules = try await broken { _ in
            let session = AVContentKeySession(keySystem: .fairPlayStreaming)
            session.expire()
            session.addContentKeyRecipient(AVURLAsset(url: StandInFixture.playlist(of: .transportStream)))
            session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
        }
        #expect(rules == [.expiredSessionUsed, .expiredSessionUsed])
    }

    @Test func `a session is not expired under open requests`() async throws {
        #expect(try await brokenBy { session, _ in session.expire() } == [.expiredWithOpenRequests])
    }

    @Test func `a second answer is noticed`() async throws {
        let rules = try await brokenBy { [refusal] _, request in
            for _ in 0..<2 { request.processContentKeyResponseError(refusal) }
        }
        #expect(rules == [.answeredTwice])
    }

    @Test func `a request that a persistable one replaced is not answered`() async throws {
        let rules = try await broken { fixture in
            let app = App(
                OfflineDelegate { [refusal] request in
                    try? request.respondByRequestingPersistableContentKeyRequest()
                    request.processContentKeyResponseError(refusal)
                })
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didFail")
            withExtendedLifetime(app) {}
        }
        #expect(rules == [.answeredAfterSwitch])
    }

    @Test func `a request that was cancelled is not answered`() async throws {
        let rules = try await broken { fixture in
            let app = App(ScriptedDelegate { _, _ in })
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didProvide")
            let request = try #require(app.session.standIn.openRequests.first)
            app.session.standIn.cancel(request)
            await fixture.log.untilCallback("didFail")
            request.processContentKeyResponseError(refusal)
        }
        #expect(rules == [.answeredAfterEnd])
    }

    @Test func `a request that outlives its session is not touched`() async throws {
        let rules = try await broken { fixture in
            let kept = Locked<AVContentKeyRequest?>(nil)
            var app: App? = App(ScriptedDelegate { _, request in kept.withLock { $0 = request } })
            app?.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didProvide")
            app = nil
            await fixture.log.untilViolation(.unanswered)
            kept.withLock { $0 }?.processContentKeyResponseError(refusal)
        }
        #expect(rules == [.unanswered, .requestOutlivedSession])
    }

    @Test func `a persistable request needs its callback`() async throws {
        let rules = try await brokenBy { _, request in
            try? request.respondByRequestingPersistableContentKeyRequestAndReturnError()
        }
        #expect(rules == [.persistableCallbackMissing])
    }

    @Test func `an answered request cannot be turned into a persistable one`() async throws {
        let rules = try await brokenBy { [refusal] _, request in
            request.processContentKeyResponseError(refusal)
            #expect(throws: AVError.self) { try request.respondByRequestingPersistableContentKeyRequest() }
        }
        #expect(rules == [.switchedAfterAnswer])
    }

    @Test func `a key that never came cannot be renewed`() async throws {
        let rules = try await brokenBy { [refusal] session, request in
            request.processContentKeyResponseError(refusal)
            session.renewExpiringResponseData(for: request)
        }
        #expect(rules == [.renewedWithoutKey])
    }

    @Test func `a Swift error loses its text on the way, which is noticed`() async throws {
        struct Refused: LocalizedError {
            var errorDescription: String? { "No subscription." }
        }
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = App(ScriptedDelegate { _, request in request.processContentKeyResponseError(Refused()) })
            let error = await #expect(throws: NSError.self) { try await app.play() }
            #expect(error?.localizedDescription.contains("No subscription.") == false)
        }
        #expect(fixture.log.brokenRules == [.errorWithoutText])
    }

    @Test func `an unknown key system is noticed`() async throws {
        let rules = try await broken { _ in _ = AVContentKeySession(keySystem: AVContentKeySystem(rawValue: "other")) }
        #expect(rules == [.unknownKeySystem])
    }
}

/// Answers persistable requests with an error, and others with a closure.
private final class OfflineDelegate: NSObject, AVContentKeySessionDelegate {
    private let script: @Sendable (AVContentKeyRequest) -> Void

    init(_ script: @escaping @Sendable (AVContentKeyRequest) -> Void) { self.script = script }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
        script(keyRequest)
    }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest) {
        keyRequest.processContentKeyResponseError(NSError(domain: "app", code: 2))
    }
}
