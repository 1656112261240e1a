import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import Testing

private let name = "skd://demo/video"
private let refusal = NSError(domain: "app", code: 1, userInfo: [NSLocalizedDescriptionKey: "No subscription."])

extension StandInFixture {
    /// A session whose delegate has handled one request with a closure.
    fileprivate func asked(
        _ script: @escaping @Sendable (AVContentKeySession, AVContentKeyRequest) -> Void
    ) async -> App {
        let app = App(ScriptedDelegate(script))
        app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
        await log.untilCallback("didProvide")
        return app
    }
}

extension StandInRule {
    /// `AVContentKeySession`, from its delegate to its end.
    static let keySession = [
        StandInRule("a session's delegate has a queue", .delegateWithoutQueue) { _, use in
            let session = AVContentKeySession(keySystem: .fairPlayStreaming)
            let delegate = ScriptedDelegate { _, _ in }
            session.setDelegate(delegate, queue: use == .wrong ? nil : DispatchQueue(label: "app.keys"))
            #expect((session.delegate == nil) == (use == .wrong))
        },
        StandInRule("the delegate's queue is serial", .concurrentQueue) { fixture, use in
            let (bothThere, requests) = (DispatchGroup(), Locked<[AVContentKeyRequest]>([]))
            for _ in 0..<2 { bothThere.enter() }
            let delegate = ScriptedDelegate { _, request in
                requests.withLock { $0.append(request) }
                bothThere.leave()
                if use == .wrong { bothThere.wait() }
            }
            let queue = DispatchQueue(label: "app.keys", attributes: use == .wrong ? .concurrent : [])
            let app = App(delegate, on: queue, playing: StandInFixture.playlist(of: .transportStream))
            for name in ["skd://a", "skd://b"] {
                app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            }
            await fixture.log.untilCallback("didProvide", times: 2)
            for (number, request) in requests.withLock({ $0 }).enumerated() {
                request.processContentKeyResponseError(refusal)
                await fixture.log.untilCallback("didFail", times: number + 1)
            }
        },
        StandInRule("a session's callback returns", .blockedCallback, limit: .milliseconds(20)) { fixture, use in
            let noticed = DispatchSemaphore(value: 0)
            let app = App(
                ScriptedDelegate { _, request in
                    if use == .wrong { noticed.wait() }
                    request.processContentKeyResponseError(refusal)
                })
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            if use == .wrong { await fixture.log.untilViolation(.blockedCallback) }
            noticed.signal()
            await fixture.log.untilCallback("didFail")
        },
        StandInRule("a recipient comes before its asset loads", .recipientAddedLate) { _, use in
            let asset = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            let session = AVContentKeySession(keySystem: .fairPlayStreaming)
            if use == .right { session.addContentKeyRecipient(asset) }
            let player = AVPlayer(playerItem: AVPlayerItem(asset: asset))
            session.addContentKeyRecipient(asset)
            #expect(session.contentKeyRecipients.isEmpty == (use == .wrong))
            withExtendedLifetime(player) {}
        },
        StandInRule("a recipient leaves one session before it joins another", .recipientOfTwoSessions) { _, use in
            let asset = AVURLAsset(url: StandInFixture.playlist(of: .transportStream))
            let sessions = (0..<2).map { _ in AVContentKeySession(keySystem: .fairPlayStreaming) }
            // The first one may take it twice.
            for session in sessions.prefix(1) + sessions.prefix(1) { session.addContentKeyRecipient(asset) }
            if use == .right { sessions[0].removeContentKeyRecipient(asset) }
            sessions[1].addContentKeyRecipient(asset)
            #expect(sessions.map(\.contentKeyRecipients.count) == (use == .wrong ? [1, 0] : [0, 1]))
        },
        StandInRule("a request of the app has an identifier", .requestWithoutIdentifier) { fixture, use in
            let app = App(AppDelegate(fixture.server))
            app.session.processContentKeyRequest(
                withIdentifier: use == .wrong ? nil : name, initializationData: nil)
            if use == .right { await fixture.log.untilCallback("didSucceed") }
        },
        StandInRule("an expired session gets no recipient", .expiredSessionUsed) { _, use in
            let session = AVContentKeySession(keySystem: .fairPlayStreaming)
            if use == .wrong { session.expire() }
            session.addContentKeyRecipient(AVURLAsset(url: StandInFixture.playlist(of: .transportStream)))
        },
        StandInRule("an expired session gets no request", .expiredSessionUsed) { fixture, use in
            let app = App(AppDelegate(fixture.server))
            if use == .wrong { app.session.expire() }
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            if use == .right { await fixture.log.untilCallback("didSucceed") }
        },
        StandInRule("an expired session renews nothing", .expiredSessionUsed) { fixture, use in
            let delegate = AppDelegate(fixture.server)
            let app = App(delegate)
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didSucceed")
            if use == .wrong { app.session.expire() }
            let request = try #require(delegate.granted.withLock { $0.first })
            app.session.renewExpiringResponseData(for: request)
            if use == .right { await fixture.log.untilCallback("didSucceed", times: 2) }
        },
        StandInRule("a session expires when its requests are answered", .expiredWithOpenRequests) { fixture, use in
            let app = await fixture.asked { _, request in
                if use == .right { request.processContentKeyResponseError(refusal) }
            }
            if use == .right { await fixture.log.untilCallback("didFail") }
            app.session.expire()
        },
        StandInRule("a session is for a key system that exists", .unknownKeySystem) { _, use in
            _ = AVContentKeySession(keySystem: use == .wrong ? .init(rawValue: "other") : .fairPlayStreaming)
        },
        StandInRule("advisory keys stay on", .advisoryKeysTurnedOff) { fixture, use in
            let app = App(AppDelegate(fixture.server))
            #expect(!app.session.supportsAdvisoryKeys)
            app.session.supportsAdvisoryKeys = true
            if use == .wrong { app.session.supportsAdvisoryKeys = false }
            #expect(app.session.supportsAdvisoryKeys)
        },
        StandInRule("with advisory keys SPCs are made by the newer call", .advisoryKeysIgnored) { fixture, use in
            let app = App(
                ScriptedDelegate { [server = fixture.server] _, request in
                    let answer: @Sendable (Data?, (any Error)?) -> Void = { spc, _ in
                        let license = spc.flatMap { try? server.license(for: $0) } ?? Data()
                        request.processContentKeyResponse(.init(fairPlayStreamingKeyResponseData: license))
                    }
                    if use == .wrong {
                        request.makeStreamingContentKeyRequestData(
                            forApp: server.certificate, contentIdentifier: Data(name.utf8), completionHandler: answer)
                    } else {
                        request.makeOptionalStreamingContentKeyRequestData(
                            forApp: server.certificate, contentIdentifier: Data(name.utf8), completionHandler: answer)
                    }
                })
            app.session.supportsAdvisoryKeys = true
            try await app.play().expectRight()
        },
        StandInRule("a key that the system has comes without an SPC or an error, and is not answered", .answeredTwice) {
            fixture, use in
            let first = App(AppDelegate(fixture.server))
            _ = try await first.play()
            first.session.standIn.keepAdvisoryKey(name)
            let given = Locked<[Bool]>([])
            let second = App(
                ScriptedDelegate { [server = fixture.server] _, request in
                    request.makeOptionalStreamingContentKeyRequestData(
                        forApp: server.certificate, contentIdentifier: Data(name.utf8)
                    ) { spc, error in
                        given.withLock { $0 += [spc == nil, error == nil, request.canBeFulfilledWithAdvisoryKey] }
                        if use == .wrong { request.processContentKeyResponseError(refusal) }
                    }
                })
            second.session.supportsAdvisoryKeys = true
            try await second.play().expectRight()
            #expect(given.withLock { $0 } == [true, true, true])
        },
    ]

    /// `AVContentKeyRequest`, and the keys that a session has.
    static let keyLife = [
        StandInRule("a request is answered once", .answeredTwice) { fixture, use in
            let app = await fixture.asked { _, request in
                for _ in 0..<(use == .wrong ? 2 : 1) { request.processContentKeyResponseError(refusal) }
            }
            await fixture.log.untilCallback("didFail")
            withExtendedLifetime(app) {}
        },
        StandInRule(
            "a request that the app alone retains is answered", .unanswered, behavior: .init([.releasesEarly])
        ) { fixture, use in
            let app = App(use == .wrong ? ScriptedDelegate { _, _ in } : AppDelegate(fixture.server))
            if use == .right { return try await app.play().expectRight() }
            let error = await #expect(throws: AVError.self) { try await app.play() }
            #expect(error?.code == .contentIsNotAuthorized)
        },
        StandInRule("a request is used while its session lives", .unanswered, .requestOutlivedSession) { fixture, use in
            let kept = Locked<AVContentKeyRequest?>(nil)
            var app: App? = await fixture.asked { _, request in kept.withLock { $0 = request } }
            let request = try #require(kept.withLock { $0 })
            if use == .wrong {
                app = nil
                await fixture.log.untilViolation(.unanswered)
            }
            request.processContentKeyResponseError(refusal)
            if use == .right { await fixture.log.untilCallback("didFail") }
            withExtendedLifetime(app) {}
        },
        StandInRule("a cancelled request is not answered", .answeredAfterEnd) { fixture, use in
            let app = await fixture.asked { _, _ in }
            let request = try #require(app.session.standIn.openRequests.first)
            app.session.standIn.cancel(request)
            await fixture.log.untilCallback("didFail")
            if use == .wrong { request.processContentKeyResponseError(refusal) }
        },
        StandInRule("the persistable request is answered in place of the first", .answeredAfterSwitch) { fixture, use in
            let app = App(
                OfflineDelegate { request in
                    try? request.respondByRequestingPersistableContentKeyRequest()
                    if use == .wrong { request.processContentKeyResponseError(refusal) }
                })
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didFail")
        },
        StandInRule("a persistable request has its callback", .persistableCallbackMissing) { fixture, use in
            let script: @Sendable (AVContentKeyRequest) -> Void = { request in
                try? request.respondByRequestingPersistableContentKeyRequestAndReturnError()
            }
            let app = App(use == .wrong ? ScriptedDelegate { script($1) } : OfflineDelegate(script))
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            if use == .wrong { await fixture.log.untilViolation(.persistableCallbackMissing) }
            if use == .right { await fixture.log.untilCallback("didFail") }
        },
        StandInRule("a request becomes persistable while it is open", .switchedAfterAnswer) { fixture, use in
            let app = App(
                OfflineDelegate { request in
                    if use == .wrong { request.processContentKeyResponseError(refusal) }
                    let isSwitched = (try? request.respondByRequestingPersistableContentKeyRequest()) != nil
                    #expect(isSwitched == (use == .right))
                })
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didFail")
        },
        StandInRule("a key that came is renewed", .renewedWithoutKey) { fixture, use in
            if use == .wrong {
                let app = await fixture.asked { session, request in
                    request.processContentKeyResponseError(refusal)
                    session.renewExpiringResponseData(for: request)
                }
                await fixture.log.untilCallback("didFail")
                return withExtendedLifetime(app) {}
            }
            let delegate = AppDelegate(fixture.server)
            let app = App(delegate)
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didSucceed")
            app.session.renewExpiringResponseData(for: try #require(delegate.granted.withLock { $0.first }))
            await fixture.log.untilCallback("didSucceed", times: 2)
        },
        StandInRule("an error of a key is an NSError with a text", .errorWithoutText) { fixture, use in
            struct Refused: LocalizedError {
                var errorDescription: String? { "No subscription." }
            }
            let app = App(
                ScriptedDelegate { _, request in
                    request.processContentKeyResponseError(use == .wrong ? Refused() : refusal)
                })
            let error = await #expect(throws: NSError.self) { try await app.play() }
            #expect(error?.localizedDescription.contains("No subscription.") == (use == .right))
        },
        StandInRule("a stored key is its own identifier's", numbers: [-42_803], in: "§3.4", terms: .init(.persistent)) {
            fixture, use in
            let delegate = AppDelegate(fixture.server, .offline)
            let stored = try await App(delegate, playing: .twoKeys).play()
            #expect(stored.isRight && stored.keyURIs.count == 2)
            let (one, other) = (stored.keyURIs[0].raw, stored.keyURIs[1].raw)
            if use == .wrong { delegate.files.withLock { $0[one] = $0[other] } }
            try await App(delegate, playing: .twoKeys).play().expectRight()
        },
        StandInRule(
            "a key whose lease ended is renewed, and not asked for", numbers: [-42_656], in: "§3.9",
            terms: .init(.lease(.seconds(600)))
        ) { fixture, use in
            let app = App(AppDelegate(fixture.server))
            _ = try await app.play()
            #expect(app.session.standIn.usableKeys == [name])
            fixture.time.advance(by: .seconds(600))
            #expect(app.session.standIn.usableKeys.isEmpty)
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            if use == .right {
                app.session.standIn.renew(name)
                await fixture.log.untilCallback("didSucceed", times: 2)
            }
            defer { #expect(fixture.log.contents.count(of: "didProvide") == 1) }
            try await app.playAgain().expectRight()
        },
    ]
}

/// Answers persistable requests with an error, and others with a closure.
private final class OfflineDelegate: NSObject, AVContentKeySessionDelegate {
    private let script: @Sendable (AVContentKeyRequest) -> Void

    init(_ script: @escaping @Sendable (AVContentKeyRequest) -> Void) { self.script = script }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
        script(keyRequest)
    }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVPersistableContentKeyRequest) {
        keyRequest.processContentKeyResponseError(refusal)
    }
}
