import Foundation
import LatchkeyCore
import LatchkeyOpenTV
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import OPYSDKFPS
import StandInEngine
import Testing

/// NAGRA's SDK with a loader behind its license delegate.
@Suite(.timeLimit(.minutes(2))) struct OpenTVKeysTests {
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
            #expect(stage.log.violations.isEmpty && app.failures.all.isEmpty)
        }
    }

    @Test(arguments: [VendorProfile.vuDRM, .cloudDRM, .irdeto, .drmToday, .mux, .ezdrm, .doveRunner, .expressPlay])
    func `a stream of any vendor plays`(_ profile: VendorProfile) async throws {
        try await PlayerStage.with { stage in
            let app = OpenTVApp(stage, stage.loader(profile))
            let result = try await app.play(for: profile)
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty && app.failures.all.isEmpty)
        }
    }

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .releasesLate, .repeatsIdentifiers, .switchesToAirPlay,
        .completesTwice, .reordersKeys,
    ])
    func `a stream plays despite a misbehaving SDK`(_ misbehavior: Misbehavior) async throws {
        try await PlayerStage.with(StandInBehavior([misbehavior])) { stage in
            let app = OpenTVApp(stage, stage.loader(.nagra))
            let result = try await app.play(.twoKeys)
            #expect(result.isRight)
            #expect(app.failures.all.isEmpty)
        }
    }

    @Test func `each hook of the SDK runs the adapter's own code`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let delegate = OpenTVKeys(stage.loader()) { failures.add($0) }
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
            #expect(failures.all.isEmpty)
        }
    }

    @Test func `an SPC without a key name is refused if there are several keys`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let delegate = OpenTVKeys(stage.loader()) { failures.add($0) }
            let hooks = Hooks(delegate: delegate, stage: stage)
            #expect(await hooks.contentIdentifier(0) != nil)
            #expect(await hooks.contentIdentifier(1) != nil)
            #expect(await hooks.call { $0.ckcMessage(spc: Data([1])) } == nil)
            #expect(await hooks.call { $0.ckcMessageWithID(spc: Data([2]), assetID: "unknown") } == nil)
            #expect(failures.codes == ["keyUnnamed", "keyUnnamed"])
        }
    }

    @Test func `the SDK renews a lease before its end`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(.seconds(600)))) { stage in
            let app = OpenTVApp(stage, stage.loader(.ezdrm, lease: .seconds(600)))
            let player = await app.player(for: .ezdrm)
            _ = try await player.standIn.finished()
            await stage.time.untilSomeoneSleeps(for: .seconds(450))
            for renewal in 1...3 {
                stage.time.advance(by: .seconds(450))
                // The loader checks its keys again when the lease ends.
                await stage.time.untilSomeoneSleeps(for: .seconds(150))
                await stage.log.until { $0.callbacks.count { $0.name == "ckcMessageWith" } > renewal }
            }
            #expect(stage.service(for: .ezdrm).licenses == 4)
            await stage.log.untilCallback("didProvideRenewing", times: 3)
            #expect(stage.log.contents.count(of: "didProvideRenewing") == 3)
            #expect(player.standIn.session.usableKeys.count == 1)
            #expect(stage.log.violations.isEmpty && app.failures.all.isEmpty)
        }
    }

    @Test func `a lease that the service stops renewing ends with one error`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(.seconds(600)))) { stage in
            let loader = stage.loader(.ezdrm, lease: .seconds(600))
            let app = OpenTVApp(stage, loader)
            let player = await app.player(for: .ezdrm)
            _ = try await player.standIn.finished()
            await stage.time.untilSomeoneSleeps(for: .seconds(450))
            stage.service(for: .ezdrm).environment.faults.set(.status(403), at: .license)
            let events = loader.events()
            stage.time.advance(by: .seconds(450))
            await app.failures.until(1)
            for await event in events {
                guard case .renewalFailed(_, let wait?) = event.kind else { continue }
                await stage.time.untilSomeoneSleeps(for: wait)
                break
            }
            stage.time.advance(by: .seconds(150))
            await app.failures.until(2)
            #expect(app.failures.codes == ["forbidden", "leaseEnded"])
            #expect(player.standIn.session.usableKeys.isEmpty)
        }
    }

    @Test func `released keys are not renewed`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(.seconds(600)))) { stage in
            let loader = stage.loader(.ezdrm, lease: .seconds(600))
            let released = Locked<OpenTVKeys?>(nil)
            let app = OpenTVApp(stage) { failures in
                let keys = OpenTVKeys(loader, deadline: .seconds(60), onFailure: failures.add)
                released.withLock { $0 = keys }
                return keys
            }
            _ = try await app.play(for: .ezdrm)
            var events = loader.events().makeAsyncIterator()
            released.withLock { $0 }?.release()
            while let event = await events.next() {
                if case .released = event.kind { break }
            }
            #expect(stage.service(for: .ezdrm).licenses == 1)
            #expect(app.failures.all.isEmpty)
        }
    }

    @Test func `the SDK renews a session that lives by its licenses`() async throws {
        try await PlayerStage.with(special: { NAGRABackend.service($0) { $0.enforcesSessions = true } }) { stage in
            let loader = stage.loader(.nagra)
            let app = OpenTVApp(stage, loader)
            let player = await app.player()
            _ = try await player.standIn.finished()
            await stage.time.untilSomeoneSleeps(for: NAGRABackend.period)
            stage.time.advance(by: NAGRABackend.period)
            await stage.service(for: .nagra).untilLicenses(2)
            #expect(stage.service(for: .nagra).count(of: .sessionHeartbeat) == 0)
            #expect(app.failures.all.isEmpty)

            let events = loader.events()
            try #require(app.keys).release()
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
            #expect(app.failures.all.count == 1 && app.failures.all.allSatisfy { $0.isComplete })
            #expect(app.failures.all.first?.error.userInfo[ContentKeyError.UserInfoKey.vendorCode] as? String == "4711")
            #expect(service.licenses == 1)
            #expect(stage.secrets(in: app.failures.text).isEmpty)
        }
    }

    @Test func `a silent service ends at the deadline, and its late answer brings no key`() async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let (loader, failures) = (stage.loader(), FailureLog())
            let events = loader.events()
            let delegate = OpenTVKeys(loader, deadline: .zero) { failures.add($0) }
            let patient = Hooks(delegate: OpenTVKeys(loader) { failures.add($0) }, stage: stage)
            #expect(await patient.certificate() != nil)
            let hooks = Hooks(delegate: delegate, stage: stage)
            #expect(await hooks.contentIdentifier() != nil)
            #expect(await hooks.call { $0.ckcMessage(spc: Data([1])) } == nil)
            #expect(failures.codes == ["deadlineExceeded"])
            // The loader gives the request up: its license, once the service answers, is dropped.
            service.open()
            var end: KeyEvent.Kind?
            for await event in events where end == nil {
                switch event.kind {
                case .answered, .failed, .released: end = event.kind
                default: break
                }
                if end != nil { break }
            }
            if case .answered? = end { Issue.record("The late license was taken.") }
            #expect(failures.codes == ["deadlineExceeded"])
        }
    }

    enum End: CaseIterable { case release, loaderIsCancelled }

    @Test(arguments: End.allCases)
    func `the waiting thread is freed when everything ends`(_ end: End) async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let loader = stage.loader()
            let failures = FailureLog()
            let keys = OpenTVKeys(loader, onFailure: failures.add)
            let hooks = Hooks(delegate: keys, stage: stage)
            #expect(await hooks.contentIdentifier() != nil)
            async let license = hooks.call { $0.ckcMessage(spc: Data([1])) }
            await service.untilLicenses(1)
            switch end {
            case .release: keys.release()
            case .loaderIsCancelled: loader.cancel()
            }
            #expect(await license == nil)
            #expect(failures.all.isEmpty)
            service.open()
        }
    }

    @Test func `nothing waits on the main thread or in tasks`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let delegate = OpenTVKeys(stage.loader()) { failures.add($0) }
            #expect(await MainActor.run { delegate.certificate() } == nil)
            #expect(delegate.certificate() == nil)
            #expect(failures.codes == ["threadMustNotWait", "threadMustNotWait"])
            #expect(failures.all.allSatisfy { $0.isComplete })
            #expect(stage.service(for: .vuDRM).count(of: .certificate) == 0)
        }
    }

    @Test func `an SDK that calls on the main thread gets an error without blocking it`() async throws {
        try await PlayerStage.with(StandInBehavior([.callsOnMainThread])) { stage in
            let app = OpenTVApp(stage, stage.loader(.nagra))
            await #expect(throws: NSError.self) { try await app.play() }
            #expect(app.failures.codes.contains("threadMustNotWait"))
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `players of several vendors share one delegate, each with its loader`() async throws {
        try await PlayerStage.with { stage in
            let (nagra, vuDRM) = (stage.loader(.nagra), stage.loader(.vuDRM))
            let others = Set((0...1).map { stage.key($0, for: .vuDRM) })
            let app = OpenTVApp(stage) { failures in
                OpenTVKeys(
                    nagra, deadline: .seconds(60), loaderFor: { others.contains($0) ? vuDRM : nil },
                    onFailure: { failures.add($0) })
            }
            async let first = app.play(.twoKeys, for: .nagra)
            async let second = app.play(.twoKeys, for: .vuDRM)
            let (one, two) = try await (first, second)
            #expect(one.isRight && two.isRight && app.failures.all.isEmpty)
            #expect(stage.service(for: .nagra).licenses == one.keyURIs.count)
            #expect(stage.service(for: .vuDRM).licenses == two.keyURIs.count)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `loaders with different certificates cannot share a delegate, which says so`() async throws {
        try await PlayerStage.with { stage in
            let other = ContentKeyLoader(
                .expressPlay(certificate: try TestCertificate.other()), timekeeper: stage.time)
            let failures = FailureLog()
            let delegate = OpenTVKeys(stage.loader(), loaderFor: { _ in other }, onFailure: { failures.add($0) })
            let hooks = Hooks(delegate: delegate, stage: stage)
            #expect(await hooks.contentIdentifier() != nil)
            #expect(await hooks.certificate() != nil)
            #expect(await hooks.call { $0.ckcMessage(spc: Data([1])) } == nil)
            #expect(failures.codes == ["spcFailed"])
        }
    }

    @Test func `the delegate is released with the SDK`() async throws {
        try await PlayerStage.with { stage in
            weak var delegate: OpenTVKeys?
            let loader = stage.loader()
            let app = OpenTVApp(stage) { failures in
                let made = OpenTVKeys(loader, deadline: .seconds(60)) { failures.add($0) }
                delegate = made
                return made
            }
            let result = try await app.play(for: .vuDRM)
            #expect(result.isRight)
            OTVDRMManager.shared.setLicenseDelegate(nil)
            #expect(delegate == nil)
        }
    }
}

/// Calls a delegate as the SDK does, without the SDK.
private struct Hooks {
    let delegate: OpenTVKeys
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
