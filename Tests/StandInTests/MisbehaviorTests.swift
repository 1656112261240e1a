import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// Each misbehavior happens to a correct delegate.
@Suite(.timeLimit(.minutes(5))) struct MisbehaviorTests {
    private let name = "skd://demo/video"

    @Test func `a request comes twice, as the same object`() async throws {
        let fixture = try StandInFixture(.callsBackTwice)
        await fixture.stage.run {
            let requests = Locked<[AVContentKeyRequest]>([])
            let app = App(ScriptedDelegate { _, request in requests.withLock { $0.append(request) } })
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didProvide", times: 2)
            let (first, second) = requests.withLock { ($0.first, $0.last) }
            #expect(first === second)
            first?.processContentKeyResponseError(NSError(domain: "app", code: 1))
        }
    }

    @Test func `an SPC's completion comes twice`() async throws {
        let fixture = try StandInFixture(.completesTwice)
        await fixture.stage.run {
            let (came, isTwice) = (Locked(0), StandInOutcome<Void>())
            let app = App(
                ScriptedDelegate { [server = fixture.server] _, request in
                    request.makeStreamingContentKeyRequestData(
                        forApp: server.certificate, contentIdentifier: Data("skd://demo/video".utf8)
                    ) { spc, _ in
                        came.withLock { $0 += spc == nil ? 0 : 1 }
                        guard came.withLock({ $0 }) == 2 else { return }
                        request.processContentKeyResponseError(NSError(domain: "app", code: 1))
                        isTwice.settle(.success(()))
                    }
                })
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            try? await isTwice.value
            #expect(came.withLock { $0 } == 2)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `callbacks come on odd threads`() async throws {
        let fixture = try StandInFixture(.callsOnOddThreads)
        try await fixture.stage.run {
            let app = App(AppDelegate(fixture.server), playing: .twoKeys)
            let result = try await app.play()
            #expect(result.isRight)
            #expect(fixture.log.callbacks.allSatisfy { $0.place == "odd thread" })
        }
    }

    @Test func `a request is cancelled once its SPC is made`() async throws {
        let fixture = try StandInFixture(.cancelsMidway)
        await fixture.stage.run {
            let kept = Locked<AVContentKeyRequest?>(nil)
            // It does not answer, so only the cancellation can end the request.
            let app = App(
                ScriptedDelegate { [server = fixture.server] _, request in
                    kept.withLock { $0 = request }
                    request.makeStreamingContentKeyRequestData(
                        forApp: server.certificate, contentIdentifier: Data("skd://demo/video".utf8)
                    ) { _, _ in }
                })
            let error = await #expect(throws: AVError.self) { try await app.play() }
            #expect(error?.code == .contentKeyRequestCancelled)
            #expect(kept.withLock { $0?.status } == .cancelled)
            #expect(fixture.log.violations.isEmpty)
        }
    }

    @Test func `the stage retains released objects`() async throws {
        let fixture = try StandInFixture(.releasesLate)
        await fixture.stage.run {
            weak var session: AVContentKeySession?
            do {
                let app = App(ScriptedDelegate { _, _ in })
                session = app.session
            }
            #expect(session != nil)
        }
    }

    @Test func `each key is asked for by two requests`() async throws {
        let fixture = try StandInFixture(.repeatsIdentifiers)
        try await fixture.stage.run {
            let delegate = AppDelegate(fixture.server)
            let app = App(delegate)
            let result = try await app.play()
            #expect(result.isRight)
            let requests = delegate.granted.withLock { $0 }
            #expect(requests.count == 2 && requests.first !== requests.last)
        }
    }

    @Test func `playback moves to AirPlay, where keys cannot be stored`() async throws {
        let fixture = try StandInFixture(.switchesToAirPlay, terms: LicenseTerms(.persistent))
        try await fixture.stage.run {
            let app = App(AppDelegate(fixture.server, .offline))
            let player = AVPlayer(playerItem: app.item)
            await player.play()
            let result = try await app.item.standIn.finished()
            #expect(result.isRight)
            #expect(player.isExternalPlaybackActive)
            #expect(
                fixture.log.names.filter { $0.hasPrefix("didProvide") } == [
                    "didProvide", "didProvidePersistable", "didProvide",
                ])
            await fixture.log.untilCallback("externalProtectionStatusDidChange", times: 2)
            #expect(fixture.log.contents.count(of: "externalProtectionStatusDidChange") == 2)
            #expect(fixture.log.violations.isEmpty)
        }
    }

    @Test func `the media services are reset once, and a new session plays`() async throws {
        let fixture = try StandInFixture(.resetsMediaServices)
        try await fixture.stage.run {
            let delegate = AppDelegate(fixture.server)
            let first = App(delegate)
            let error = await #expect(throws: AVError.self) { try await first.play() }
            #expect(error?.code == .mediaServicesWereReset)
            first.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didFail")
            #expect(delegate.failures.withLock { $0.last?.code } == -11819)
            let second = App(delegate)
            let result = try await second.play()
            #expect(result.isRight)
        }
    }

    @Test func `the delegate is forgotten after the first request`() async throws {
        let fixture = try StandInFixture(.dropsDelegate)
        await fixture.stage.run {
            let app = App(AppDelegate(fixture.server))
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await fixture.log.untilCallback("didProvide")
            #expect(app.session.delegate == nil)
        }
    }

    @Test func `an SPC's completion gets only nils`() async throws {
        let fixture = try StandInFixture(.completesWithNothing)
        await fixture.stage.run {
            let app = App(AppDelegate(fixture.server))
            let error = await #expect(throws: CocoaError.self) { try await app.play() }
            #expect(error?.code == .featureUnsupported)
        }
    }

    @Test(arguments: [IdentifierForm.string, .url, .nsURL, .nsString])
    func `identifiers come in several forms`(_ form: IdentifierForm) async throws {
        var behavior = StandInBehavior()
        behavior.identifierForm = form
        let fixture = try StandInFixture(behavior)
        await fixture.stage.run {
            let forms = Locked<[IdentifierForm]>([])
            let app = App(
                ScriptedDelegate { _, request in
                    forms.withLock { $0.append(Self.form(of: request.identifier)) }
                    request.processContentKeyResponseError(NSError(domain: "app", code: 1))
                })
            _ = try? await app.play()
            #expect(forms.withLock { $0 } == [form])
        }
    }

    @Test func `an identifier may be missing`() async throws {
        var behavior = StandInBehavior()
        behavior.identifierForm = .none
        let fixture = try StandInFixture(behavior)
        await fixture.stage.run {
            let app = App(AppDelegate(fixture.server))
            let error = await #expect(throws: NSError.self) { try await app.play() }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == -42673)
        }
    }

    private static func form(of identifier: Any?) -> IdentifierForm {
        guard let identifier else { return .none }
        if type(of: identifier) == String.self { return .string }
        if type(of: identifier) == URL.self { return .url }
        return identifier is NSURL ? .nsURL : .nsString
    }
}
