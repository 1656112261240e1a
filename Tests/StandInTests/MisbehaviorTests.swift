import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// Each switch does what it says, to a correct delegate.
@Suite struct MisbehaviorTests {
    private let name = "skd://demo/video"

    @Test func `a request comes twice, as the same object`() async throws {
        let studio = try Studio(.callsBackTwice)
        await studio.stage.run {
            let requests = Locked<[AVContentKeyRequest]>([])
            let app = App(ScriptedDelegate { _, request in requests.withLock { $0.append(request) } })
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await studio.log.untilCallback("didProvide", times: 2)
            let (first, second) = requests.withLock { ($0.first, $0.last) }
            #expect(first === second)
            first?.processContentKeyResponseError(NSError(domain: "app", code: 1))
        }
    }

    @Test func `an SPC's completion comes twice`() async throws {
        let studio = try Studio(.completesTwice)
        try await studio.stage.run {
            let app = App(AppDelegate(studio.server))
            let result = try await app.play()
            #expect(result.isRight)
            #expect(studio.log.violations.isEmpty)
        }
    }

    @Test func `callbacks come on odd threads`() async throws {
        let studio = try Studio(.callsOnOddThreads)
        try await studio.stage.run {
            let app = App(AppDelegate(studio.server), playing: .twoKeys)
            let result = try await app.play()
            #expect(result.isRight)
            #expect(studio.log.callbacks.allSatisfy { $0.place == "odd thread" })
        }
    }

    @Test func `a request is cancelled once its SPC is made`() async throws {
        let studio = try Studio(.cancelsMidway)
        await studio.stage.run {
            let delegate = AppDelegate(studio.server)
            let app = App(delegate)
            // The delegate may still answer before it is told, and then plays.
            _ = try? await app.play()
            await studio.log.until { $0.count(of: "didFail") + $0.count(of: "didSucceed") == 1 }
        }
    }

    @Test func `the stage holds on to what the app let go`() async throws {
        let studio = try Studio(.releasesLate)
        await studio.stage.run {
            weak var session: AVContentKeySession?
            do {
                let app = App(ScriptedDelegate { _, _ in })
                session = app.session
            }
            #expect(session != nil)
        }
    }

    @Test func `a request that only the app could keep is gone where it does not`() async throws {
        let studio = try Studio(.releasesEarly)
        await studio.stage.run {
            let app = App(ScriptedDelegate { _, _ in })
            let error = await #expect(throws: AVError.self) { try await app.play() }
            #expect(error?.code == .contentIsNotAuthorized)
        }
        #expect(studio.log.brokenRules == [.unanswered])
    }

    @Test func `a request that the app keeps is answered where only the app keeps it`() async throws {
        let studio = try Studio(.releasesEarly)
        try await studio.stage.run {
            let app = App(AppDelegate(studio.server))
            let result = try await app.play()
            #expect(result.isRight)
        }
    }

    @Test func `each key is asked for by two requests`() async throws {
        let studio = try Studio(.repeatsIdentifiers)
        try await studio.stage.run {
            let delegate = AppDelegate(studio.server)
            let app = App(delegate)
            let result = try await app.play()
            #expect(result.isRight)
            let requests = delegate.granted.withLock { $0 }
            #expect(requests.count == 2 && requests.first !== requests.last)
        }
    }

    @Test func `playback moves to AirPlay, where keys cannot be stored`() async throws {
        let studio = try Studio(.switchesToAirPlay, terms: LicenseTerms(.persistent))
        try await studio.stage.run {
            let app = App(AppDelegate(studio.server, .offline))
            let player = AVPlayer(playerItem: app.item)
            await player.play()
            let result = try await app.item.standIn.finished()
            #expect(result.isRight)
            #expect(player.isExternalPlaybackActive)
            #expect(
                studio.log.names.filter { $0.hasPrefix("didProvide") } == [
                    "didProvide", "didProvidePersistable", "didProvide",
                ])
            #expect(studio.log.contents.count(of: "externalProtectionStatusDidChange") == 2)
            #expect(studio.log.violations.isEmpty)
        }
    }

    @Test func `the media services are reset once, and a new session plays`() async throws {
        let studio = try Studio(.resetsMediaServices)
        try await studio.stage.run {
            let delegate = AppDelegate(studio.server)
            let first = App(delegate)
            let error = await #expect(throws: AVError.self) { try await first.play() }
            #expect(error?.code == .mediaServicesWereReset)
            first.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await studio.log.untilCallback("didFail")
            #expect(delegate.failures.withLock { $0.last?.code } == -11819)
            let second = App(delegate)
            let result = try await second.play()
            #expect(result.isRight)
        }
    }

    @Test func `the delegate is forgotten after the first request`() async throws {
        let studio = try Studio(.dropsDelegate)
        await studio.stage.run {
            let app = App(AppDelegate(studio.server))
            app.session.processContentKeyRequest(withIdentifier: name, initializationData: nil)
            await studio.log.untilCallback("didProvide")
            #expect(app.session.delegate == nil)
        }
    }

    @Test func `an SPC's completion gets nothing at all`() async throws {
        let studio = try Studio(.completesWithNothing)
        await studio.stage.run {
            let app = App(AppDelegate(studio.server))
            let error = await #expect(throws: CocoaError.self) { try await app.play() }
            #expect(error?.code == .featureUnsupported)
        }
    }

    @Test(arguments: [IdentifierForm.string, .url, .nsURL, .nsString])
    func `identifiers come in several forms`(_ form: IdentifierForm) async throws {
        var behavior = StandInBehavior()
        behavior.identifierForm = form
        let studio = try Studio(behavior)
        await studio.stage.run {
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
        let studio = try Studio(behavior)
        await studio.stage.run {
            let app = App(AppDelegate(studio.server))
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
