import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import OPYSDKFPS
import StandInEngine
import Testing

@testable import LatchkeyOpenTV

/// `customer-ssm` through NAGRA's SDK: the SDK keeps time, the app speaks to the service.
@Suite(.timeLimit(.minutes(2))) struct OpenTVCustomerKeysTests {
    @Test(arguments: [DemoAsset.transportStream, .twoKeys])
    func `a stream plays right with the app's own session`(_ stream: DemoAsset) async throws {
        try await with { stage, backend, app in
            let result = try await app.play(stream)
            #expect(result.isRight)
            #expect(backend.licenseTypes.allSatisfy { $0 == .request })
            #expect(stage.service(for: .nagra).licenses == result.keyURIs.count)
            #expect(stage.log.callbacks.filter(OpenTVApp.isHook).allSatisfy { $0.implementation == .own })
            #expect(stage.log.violations.isEmpty && app.failures.all.isEmpty)
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
            #expect(stage.log.violations.isEmpty && app.failures.all.isEmpty)
        }
    }

    @Test func `if the license says so, its renewals keep the session alive`() async throws {
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
            #expect(app.failures.all.isEmpty)
        }
    }

    @Test func `a license that the service refuses is nil to the SDK and one error to the app`() async throws {
        try await with { stage, _, app in
            stage.service(for: .nagra).environment.faults.set(.refusal(code: "4711", status: 400), at: .license)
            await #expect(throws: NSError.self) { try await app.play() }
            #expect(app.failures.codes == ["integrationFailed"])
            #expect(app.failures.all.allSatisfy { $0.isComplete })
            #expect(stage.secrets(in: app.failures.text).isEmpty)
        }
    }

    @Test func `a refused heartbeat is one error, and the next one is sent`() async throws {
        try await with { stage, backend, app in
            let player = await app.player()
            _ = try await player.standIn.finished()
            let service = stage.service(for: .nagra)
            service.environment.faults.set(.refusal(code: "1007", status: 400), at: .sessionHeartbeat)
            await player.standIn.heartbeat()
            await app.failures.until(1)
            #expect(app.failures.all.first?.isComplete == true)
            #expect(app.failures.all.first?.error.userInfo[ContentKeyError.UserInfoKey.stage] as? String == "heartbeat")
            service.environment.faults.clear()
            await player.standIn.heartbeat()
            for await _ in backend.heartbeats { break }
            #expect(app.failures.all.count == 1)
        }
    }

    @Test func `an app that never returns ends at the deadline`() async throws {
        let app = SilentApp()
        let failures = FailureLog()
        let callback = OpenTVCustomerKeys(app, deadline: .milliseconds(20)) { failures.add($0) }
        let hasLicense = await onThread {
            callback.license(keySystem: "", payload: Data([1]), licenseType: .request).licence != nil
        }
        #expect(!hasLicense)
        #expect(failures.codes == ["deadlineExceeded"])
        callback.heartbeat()
        await failures.until(2)
        #expect(failures.codes == ["deadlineExceeded", "deadlineExceeded"])
    }

    @Test func `one heartbeat runs, one waits, and the third is skipped`() async {
        let app = SilentApp()
        let callback = OpenTVCustomerKeys(app, onFailure: unexpected)
        for _ in 1...3 { callback.heartbeat() }
        app.speak()
        await onThread { callback.queue.sync {} }
        #expect(app.heartbeats == 2)
    }

    @Test func `repeated failures stop playback once, and a success resets the count`() async {
        let (app, failures, stops) = (UnsteadyApp(failing: [0, 2, 3, 4]), FailureLog(), Locked(0))
        let callback = OpenTVCustomerKeys(app, stopping: .after(2) { stops.withLock { $0 += 1 } }) {
            failures.add($0)
        }
        for turn in 0..<5 {
            _ = await onThread {
                callback.license(keySystem: "", payload: Data([1]), licenseType: .request).licence != nil
            }
            #expect(stops.withLock { $0 } == (turn < 3 ? 0 : 1))
        }
        #expect(failures.all.count == 4)
    }

    @Test func `a license has a word for its purpose, as in NAGRA's guide`() {
        #expect(CustomerLicenseType.request.word == "license-request")
        #expect(CustomerLicenseType.renewal.word == "license-renew")
    }

    @Test func `two keys get licenses from one loader, each for its own SPC`() async throws {
        try await PlayerStage.with { stage in
            let loader = stage.loader(.home)
            let certificate = try await loader.applicationCertificate().bytes
            let app = OpenTVApp(
                stage, certificate: certificate, LoaderCustomerSession(loader, key: stage.key(for: .home)))
            let result = try await app.play(.twoKeys, for: .home)
            #expect(result.isRight && result.keyURIs.count == 2)
            #expect(stage.home.licenses == 2)
            #expect(stage.log.violations.isEmpty && app.failures.all.isEmpty)
        }
    }

    @Test func `nothing waits on the main thread`() async {
        let failures = FailureLog()
        let callback = OpenTVCustomerKeys(SilentApp()) { failures.add($0) }
        let hasLicense = await MainActor.run {
            callback.license(keySystem: "", payload: Data([1]), licenseType: .request).licence != nil
        }
        #expect(!hasLicense && failures.codes == ["threadMustNotWait"])
    }

    @Test(arguments: [
        (Data(), "gave nothing in place of a CKC.", "Give the bytes of the CKC"),
        (SampleBytes.ckc().base64EncodedData(), "base64 text of a CKC in place of a CKC.", "Undo the base64. Give"),
        (Data(#"{"ckc":"\#(SampleBytes.ckc().base64EncodedString())"}"#.utf8), "JSON", "Take the member “ckc”"),
        (Data("<html><body>Sign in</body></html>".utf8), "HTML page", "Give the bytes of the CKC"),
    ])
    func `a non-CKC is named, and is not a license`(_ given: Data, _ words: String, _ step: String) async throws {
        let failures = FailureLog()
        let callback = OpenTVCustomerKeys(FixedApp(license: CustomerLicense(ckc: given))) { failures.add($0) }
        let hasLicense = await onThread {
            callback.license(keySystem: "", payload: Data([1]), licenseType: .request).licence != nil
        }
        #expect(!hasLicense && failures.codes == ["licenseMalformed"])
        let error = try #require(failures.all.first?.loaderError)
        #expect(error.reason.hasPrefix("The license callback gave ") && error.reason.contains(words), "\(error.reason)")
        #expect(error.remedy.hasPrefix(step), "\(error.remedy)")
    }

    @Test(
        arguments: [
            (0, CustomerLicense.Renewal.heartbeat, "with 0, no heartbeat is ever sent"), (-1, .heartbeat, "negative"),
            (-1, .enforced, "negative"), (30_000, .heartbeat, "milliseconds"), (0, .enforced, nil),
            (30, .heartbeat, nil),
            (31_536_000, .enforced, nil),
        ] as [(Int, CustomerLicense.Renewal, String?)])
    func `an unusable period is named, with the license`(
        _ seconds: Int, _ type: CustomerLicense.Renewal, _ words: String?
    ) async {
        let failures = FailureLog()
        let app = FixedApp(license: CustomerLicense(ckc: SampleBytes.ckc(), heartbeat: seconds, renewType: type))
        let callback = OpenTVCustomerKeys(app) { failures.add($0) }
        let hasLicense = await onThread {
            callback.license(keySystem: "", payload: Data([1]), licenseType: .request).licence != nil
        }
        #expect(hasLicense && failures.codes == (words == nil ? [] : ["sessionMalformed"]))
        guard let words else { return }
        let reason = failures.all.first?.loaderError?.reason ?? ""
        #expect(reason.hasPrefix("The license callback gave the heartbeat \(seconds): ") && reason.contains(words))
    }

    @Test func `an unspecified license is enforced and sets no period`() {
        let license = CustomerLicense(ckc: SampleBytes.ckc())
        #expect(license.heartbeat == 0 && license.renewType == .enforced)
        #expect(CustomerLicenseType.request.rawValue == 0 && CustomerLicenseType.renewal.rawValue == 1)
    }

    @Test func `licenses may come from a loader that states their lifetime`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(.seconds(600)))) { stage in
            let loader = stage.loader(.ezdrm, lease: .seconds(600))
            let key = stage.key(for: .ezdrm)
            let certificate = try await loader.applicationCertificate().bytes
            let app = OpenTVApp(stage, certificate: certificate, LoaderCustomerSession(loader, key: key))
            let player = await app.player(for: .ezdrm)
            let result = try await player.standIn.finished()
            #expect(result.isRight)

            await stage.time.untilSomeoneSleeps(for: .seconds(450))
            stage.time.advance(by: .seconds(450))
            await stage.service(for: .ezdrm).untilLicenses(2)
            #expect(stage.log.violations.isEmpty && app.failures.all.isEmpty)
        }
    }

    /// An app whose session is open, at a service with sessions.
    private func with(
        _ change: (inout NAGRAService) -> Void = { _ in },
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
    private let silence = Promise<Void, any Error>()

    var heartbeats: Int { count.withLock { $0 } }

    func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense {
        try await silence.value
        return CustomerLicense(ckc: SampleBytes.ckc())
    }

    func heartbeat() async throws {
        count.withLock { $0 += 1 }
        try await silence.value
    }

    /// Lets everything return.
    func speak() { silence.resolve(.success(())) }
}

/// An app some of whose licenses fail.
private final class UnsteadyApp: CustomerSessionCallbacks {
    private let failing: Set<Int>
    private let count = Locked(0)

    init(failing: Set<Int>) { self.failing = failing }

    func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense {
        let turn = count.withLock { count in
            defer { count += 1 }
            return count
        }
        if failing.contains(turn) { throw CocoaError(.featureUnsupported) }
        return CustomerLicense(ckc: SampleBytes.ckc())
    }

    func heartbeat() async throws {}
}

private struct FixedApp: CustomerSessionCallbacks {
    let license: CustomerLicense

    func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense {
        license
    }

    func heartbeat() async throws {}
}
