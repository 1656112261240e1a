import Foundation
import LatchkeyCore
import LatchkeyOpenTV
import LatchkeyServer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import OPYSDKFPS
import StandInEngine
import Testing

/// NAGRA's SDK with a loader behind its license delegate.
@Suite(.timeLimit(.minutes(2))) struct OpenTVLicenseDelegateTests {
    @Test(arguments: DemoAsset.allCases)
    func `a stream plays right with one license per key, and one session`(_ stream: DemoAsset) async throws {
        try await PlayerStage.with { stage in
            let app = OpenTVApp(stage, stage.loader(.nagra))
            let result = try await app.play(stream)
            let service = stage.service(for: .nagra)
            #expect(result.isRight)
            #expect(service.licenses == result.keyURIs.count)
            #expect(service.count(of: .certificate) == 1)
            #expect(service.count(of: .sessionSetup) == (result.keyURIs.isEmpty ? 0 : 1))
            #expect(stage.log.callbacks.filter(OpenTVApp.isHook).allSatisfy { $0.implementation == .own })
            #expect(stage.log.violations.isEmpty && app.errors.all.isEmpty)
        }
    }

    @Test(arguments: [VendorProfile.vuDRM, .cloudDRM, .irdeto, .drmToday, .mux, .ezdrm, .doveRunner, .expressPlay])
    func `a stream of any vendor plays`(_ profile: VendorProfile) async throws {
        try await PlayerStage.with { stage in
            let app = OpenTVApp(stage, stage.loader(profile))
            let result = try await app.play(for: profile)
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty && app.errors.all.isEmpty)
        }
    }

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .releasesLate, .repeatsIdentifiers, .switchesToAirPlay,
        .completesTwice, .reordersKeys,
    ])
    func `a stream plays through an SDK that misbehaves`(_ misbehavior: Misbehavior) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior])) { stage in
            let app = OpenTVApp(stage, stage.loader(.nagra))
            let result = try await app.play(.twoKeys)
            #expect(result.isRight)
            #expect(app.errors.all.isEmpty)
        }
    }

    @Test func `each hook of the SDK runs the adapter's own code`() async throws {
        try await PlayerStage.with { stage in
            let errors = ErrorLog()
            let delegate = OpenTVLicenseDelegate(stage.loader()) { errors.add($1) }
            let hooks = Hooks(delegate: delegate, stage: stage)
            #expect(delegate.scheme() == "skd")
            let exchange = StandInExchange(.streaming, on: stage.stage)
            let identifier = try #require(await hooks.contentIdentifier())
            let certificate = try #require(await hooks.certificate())
            let spc = try exchange.makeSPC(certificate: certificate, contentIdentifier: identifier)

            let asset = String(decoding: identifier, as: UTF8.self)
            let named = try #require(await hooks.call { $0.ckcMessageWithID(spc: spc, assetID: asset) })
            let content = stage.service(for: .vuDRM).environment.authority.keys.keys[0].content
            #expect(try exchange.open(named).contentKey == content)
            let only = try #require(await hooks.call { $0.ckcMessage(spc: spc) })
            #expect(try exchange.open(only).contentKey == content)
            #expect(errors.all.isEmpty)
        }
    }

    @Test func `an SPC without a name for its key is refused where there are several keys`() async throws {
        try await PlayerStage.with { stage in
            let errors = ErrorLog()
            let delegate = OpenTVLicenseDelegate(stage.loader()) { errors.add($1) }
            let hooks = Hooks(delegate: delegate, stage: stage)
            #expect(await hooks.contentIdentifier(0) != nil)
            #expect(await hooks.contentIdentifier(1) != nil)
            #expect(await hooks.call { $0.ckcMessage(spc: Data([1])) } == nil)
            #expect(await hooks.call { $0.ckcMessageWithID(spc: Data([2]), assetID: "unknown") } == nil)
            #expect(errors.codes == ["keyUnnamed", "keyUnnamed"])
        }
    }

    @Test func `a lease is renewed ahead of its end with a renewal request`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(.seconds(600)))) { stage in
            let app = OpenTVApp(stage, stage.loader())
            let player = await app.player(for: .vuDRM)
            _ = try await player.standIn.finished()
            for renewal in 1...2 {
                await stage.time.untilSomeoneSleeps()
                stage.time.advance(by: .seconds(460))
                await stage.log.until { $0.callbacks.count { $0.name == "ckcMessageWith" } > renewal }
            }
            #expect(stage.service(for: .vuDRM).licenses == 3)
            #expect(player.standIn.session.usableKeys.count == 1)
            #expect(stage.log.violations.isEmpty && app.errors.all.isEmpty)
        }
    }

    @Test func `a session that the license keeps alive is renewed through the SDK, with the session's token`() async throws {
        try await PlayerStage.with(special: { NAGRABackend.service($0) { $0.enforcesSessions = true } }) { stage in
            let loader = stage.loader(.nagra)
            let app = OpenTVApp(stage, loader)
            let player = await app.player()
            _ = try await player.standIn.finished()
            await stage.time.untilSomeoneSleeps(for: NAGRABackend.period)
            stage.time.advance(by: NAGRABackend.period)
            await stage.service(for: .nagra).untilLicenses(2)
            #expect(stage.service(for: .nagra).count(of: .sessionHeartbeat) == 0)
            #expect(app.errors.all.isEmpty)

            let events = loader.events()
            loader.changeSource()
            for await event in events { if case .session(.off) = event.kind { break } }
            #expect(stage.service(for: .nagra).count(of: .sessionTeardown) == 1)
        }
    }

    @Test func `a refusal is nil to the SDK and one error to the app, without a secret`() async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .nagra)
            service.environment.faults.set(.refusal(code: "4711", status: 400), at: .license)
            let app = OpenTVApp(stage, stage.loader(.nagra))
            await #expect(throws: NSError.self) { try await app.play() }
            #expect(app.errors.all.count == 1 && app.errors.all.allSatisfy { $0.isComplete })
            #expect(app.errors.all.first?.userInfo[ContentKeyError.UserInfoKey.vendorCode] as? String == "4711")
            #expect(service.licenses == 1)
            #expect(stage.secrets(in: app.errors.text).isEmpty)
        }
    }

    @Test func `a service that does not answer ends at the deadline, and its late answer goes nowhere`() async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let errors = ErrorLog()
            let delegate = OpenTVLicenseDelegate(stage.loader(), deadline: .seconds(1)) { errors.add($1) }
            let hooks = Hooks(delegate: delegate, stage: stage)
            #expect(await hooks.contentIdentifier() != nil)
            #expect(await hooks.certificate() != nil)
            #expect(await hooks.call { $0.ckcMessage(spc: Data([1])) } == nil)
            #expect(errors.codes == ["deadlineExceeded"])
            service.open()
            #expect(errors.codes == ["deadlineExceeded"])
        }
    }

    @Test func `cancelling the loader frees the thread that waits`() async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let loader = stage.loader()
            let errors = ErrorLog()
            let hooks = Hooks(delegate: OpenTVLicenseDelegate(loader) { errors.add($1) }, stage: stage)
            #expect(await hooks.contentIdentifier() != nil)
            async let license = hooks.call { $0.ckcMessage(spc: Data([1])) }
            await service.untilLicenses(1)
            loader.cancel()
            #expect(await license == nil)
            #expect(errors.all.isEmpty)
            service.open()
        }
    }

    @Test func `on the main thread and in tasks nothing waits`() async throws {
        try await PlayerStage.with { stage in
            let errors = ErrorLog()
            let delegate = OpenTVLicenseDelegate(stage.loader()) { errors.add($1) }
            #expect(await MainActor.run { delegate.certificate() } == nil)
            #expect(delegate.certificate() == nil)
            #expect(errors.codes == ["threadMustNotWait", "threadMustNotWait"])
            #expect(errors.all.allSatisfy { $0.isComplete })
            #expect(stage.service(for: .vuDRM).count(of: .certificate) == 0)
        }
    }

    @Test func `an SDK that asks on the main thread gets an error, and the main thread is free`() async throws {
        try await PlayerStage.with(StandInBehavior([.callsOnMainThread])) { stage in
            let app = OpenTVApp(stage, stage.loader(.nagra))
            await #expect(throws: NSError.self) { try await app.play() }
            #expect(app.errors.codes.contains("threadMustNotWait"))
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `players of several vendors share the one delegate, each with its loader`() async throws {
        try await PlayerStage.with { stage in
            let (nagra, vuDRM) = (stage.loader(.nagra), stage.loader(.vuDRM))
            let others = Set((0...1).map { stage.key($0, for: .vuDRM) })
            let app = OpenTVApp(stage) { errors in
                OpenTVLicenseDelegate(
                    nagra, deadline: .seconds(60), choosing: { others.contains($0) ? vuDRM : nil },
                    onError: { errors.add($1) })
            }
            async let first = app.play(.twoKeys, for: .nagra)
            async let second = app.play(.twoKeys, for: .vuDRM)
            let (one, two) = try await (first, second)
            #expect(one.isRight && two.isRight && app.errors.all.isEmpty)
            #expect(stage.service(for: .nagra).licenses == one.keyURIs.count)
            #expect(stage.service(for: .vuDRM).licenses == two.keyURIs.count)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `loaders with different certificates cannot share the delegate, and it says so`() async throws {
        try await PlayerStage.with { stage in
            let other = ContentKeyLoader(
                .expressPlay(certificate: try TestCertificate.other()), timekeeper: stage.time)
            let errors = ErrorLog()
            let delegate = OpenTVLicenseDelegate(stage.loader(), choosing: { _ in other }, onError: { errors.add($1) })
            let hooks = Hooks(delegate: delegate, stage: stage)
            #expect(await hooks.contentIdentifier() != nil)
            #expect(await hooks.certificate() != nil)
            #expect(await hooks.call { $0.ckcMessage(spc: Data([1])) } == nil)
            #expect(errors.codes == ["spcFailed"])
        }
    }

    @Test func `the delegate goes with the SDK's hold on it, and its player's keys with the loader's source`() async throws {
        try await PlayerStage.with { stage in
            weak var delegate: OpenTVLicenseDelegate?
            let loader = stage.loader()
            let app = OpenTVApp(stage) { errors in
                let made = OpenTVLicenseDelegate(loader, deadline: .seconds(60)) { errors.add($1) }
                delegate = made
                return made
            }
            let result = try await app.play(for: .vuDRM)
            #expect(result.isRight)
            OTVDRMManager.shared.setLicenseDelegate(nil)
            loader.changeSource()
            #expect(delegate == nil)
        }
    }
}

/// Calls a delegate as the SDK does, without the SDK.
private struct Hooks {
    let delegate: OpenTVLicenseDelegate
    let stage: PlayerStage

    /// Through the protocol, so that a misspelled method would run the default.
    func call(_ body: @escaping @Sendable (any OTVLicenseDelegate) -> Data?) async -> Data? {
        await onThread { [delegate] in body(delegate) }
    }

    func contentIdentifier(_ index: Int = 0) async -> Data? {
        guard let url = URL(string: stage.key(index).raw) else { return nil }
        return await call { $0.contentIdentifier(url: url) }
    }

    func certificate() async -> Data? { await call { $0.certificate() } }
}
