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

/// `customer-ssm` through NAGRA's SDK: the SDK keeps time, the app speaks to the service.
@Suite(.timeLimit(.minutes(2))) struct OpenTVCustomerCallbackTests {
    @Test(arguments: [DemoAsset.transportStream, .twoKeys])
    func `a stream plays right with the app's own session`(_ stream: DemoAsset) async throws {
        try await with { stage, backend, app in
            let result = try await app.play(stream)
            #expect(result.isRight)
            #expect(backend.licenseTypes.allSatisfy { $0 == .request })
            #expect(stage.service(for: .nagra).licenses == result.keyURIs.count)
            #expect(stage.log.callbacks.filter(OpenTVApp.isHook).allSatisfy { $0.implementation == .own })
            #expect(stage.log.violations.isEmpty && app.errors.all.isEmpty)
            try await backend.closeSession()
        }
    }

    @Test func `heartbeats keep the session alive, as often as the license says`() async throws {
        try await with { stage, backend, app in
            let player = await app.player()
            _ = try await player.standIn.finished()
            var heartbeats = backend.heartbeats.makeAsyncIterator()
            for _ in 1...3 {
                await stage.time.untilSomeoneSleeps(for: NAGRABackend.period)
                stage.time.advance(by: NAGRABackend.period)
                await heartbeats.next()
            }
            #expect(stage.service(for: .nagra).count(of: .sessionHeartbeat) == 3)
            #expect(stage.log.callbacks.filter { $0.name == "heartbeat" }.allSatisfy { $0.implementation == .own })
            #expect(stage.log.violations.isEmpty && app.errors.all.isEmpty)
        }
    }

    @Test func `where the license says so, renewals of the license keep the session alive`() async throws {
        try await with({ $0.enforcesSessions = true }) { stage, backend, app in
            let player = await app.player()
            _ = try await player.standIn.finished()
            for renewal in 1...2 {
                await stage.time.untilSomeoneSleeps(for: NAGRABackend.period)
                stage.time.advance(by: NAGRABackend.period)
                await stage.log.until { $0.callbacks.count { $0.name == "license" } > renewal }
            }
            #expect(backend.licenseTypes == [.request, .renewal, .renewal])
            #expect(stage.service(for: .nagra).count(of: .sessionHeartbeat) == 0)
            #expect(app.errors.all.isEmpty)
        }
    }

    @Test func `a license that the service refuses is nil to the SDK, and one error to the app`() async throws {
        try await with { stage, _, app in
            stage.service(for: .nagra).environment.faults.set(.refusal(code: "4711", status: 400), at: .license)
            await #expect(throws: NSError.self) { try await app.play() }
            #expect(app.errors.codes == ["integrationFailed"])
            #expect(app.errors.all.allSatisfy { $0.isComplete })
            #expect(stage.secrets(in: app.errors.text).isEmpty)
        }
    }

    @Test func `a heartbeat that the service refuses is one error, and the next one goes out`() async throws {
        try await with { stage, backend, app in
            let player = await app.player()
            _ = try await player.standIn.finished()
            let service = stage.service(for: .nagra)
            service.environment.faults.set(.refusal(code: "1007", status: 400), at: .sessionHeartbeat)
            await player.standIn.heartbeat()
            await app.errors.until(1)
            #expect(app.errors.all.first?.isComplete == true)
            #expect(app.errors.all.first?.userInfo[ContentKeyError.UserInfoKey.stage] as? String == "heartbeat")
            service.environment.faults.clear()
            // The first may not have left its turn yet when it said what went wrong.
            var heartbeats = backend.heartbeats.makeAsyncIterator()
            let beating = Task { while !Task.isCancelled { await player.standIn.heartbeat() } }
            await heartbeats.next()
            beating.cancel()
            #expect(app.errors.all.count == 1)
        }
    }

    @Test func `an app that does not return ends at the deadline`() async throws {
        let app = SilentApp()
        let errors = ErrorLog()
        let callback = OpenTVCustomerCallback(app, deadline: .milliseconds(20)) { errors.add($0) }
        let hasLicense = await onThread {
            callback.license(keySystem: "", payload: Data([1]), licenseType: .request).licence != nil
        }
        #expect(!hasLicense)
        #expect(errors.codes == ["deadlineExceeded"])
        callback.heartbeat()
        // Left out, as the first is under way.
        callback.heartbeat()
        await errors.until(2)
        #expect(app.heartbeats == 1)
        #expect(errors.codes == ["deadlineExceeded", "deadlineExceeded"])
    }

    @Test func `on the main thread nothing waits`() async {
        let errors = ErrorLog()
        let callback = OpenTVCustomerCallback(SilentApp()) { errors.add($0) }
        let hasLicense = await MainActor.run {
            callback.license(keySystem: "", payload: Data([1]), licenseType: .request).licence != nil
        }
        #expect(!hasLicense && errors.codes == ["threadMustNotWait"])
    }

    @Test func `an empty CKC is no license`() async {
        let errors = ErrorLog()
        let callback = OpenTVCustomerCallback(EmptyApp()) { errors.add($0) }
        let hasLicense = await onThread {
            callback.license(keySystem: "", payload: Data([1]), licenseType: .request).licence != nil
        }
        #expect(!hasLicense && errors.codes == ["licenseMalformed"])
    }

    @Test func `licenses may come from a loader, which says how long they live`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(.seconds(600)))) { stage in
            let loader = stage.loader(.vuDRM)
            let key = stage.key(for: .vuDRM)
            let certificate = try await loader.applicationCertificate().der
            let app = OpenTVApp(stage, certificate: certificate, LoaderCustomerSession(loader, key: key))
            let result = try await app.play(for: .vuDRM)
            #expect(result.isRight && app.errors.all.isEmpty)

            await stage.time.untilSomeoneSleeps()
            stage.time.advance(by: .seconds(500))
            await stage.service(for: .vuDRM).untilLicenses(2)
            #expect(stage.log.violations.isEmpty)
        }
    }

    /// An app whose session is open, at a service with sessions.
    private func with(
        _ change: (inout NAGRAService.Configuration) -> Void = { _ in },
        _ body: (PlayerStage, NAGRABackend, OpenTVApp) async throws -> Void
    ) async throws {
        try await PlayerStage.with(special: { NAGRABackend.service($0, change) }) { stage in
            let backend = NAGRABackend(stage)
            try await backend.openSession()
            try await body(stage, backend, OpenTVApp(stage, certificate: try await backend.certificate(), backend))
        }
    }
}

/// An app whose callbacks return when they are cancelled.
private final class SilentApp: CustomerSessionCallbacks {
    private let count = Locked(0)

    var heartbeats: Int { count.withLock { $0 } }

    func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense {
        try await wait()
        return CustomerLicense(ckc: payload)
    }

    func heartbeat() async throws {
        count.withLock { $0 += 1 }
        try await wait()
    }

    private func wait() async throws {
        for await _ in AsyncStream<Void>.makeStream().stream {}
        try Task.checkCancellation()
    }
}

private struct EmptyApp: CustomerSessionCallbacks {
    func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense {
        CustomerLicense(ckc: Data())
    }

    func heartbeat() async throws {}
}
