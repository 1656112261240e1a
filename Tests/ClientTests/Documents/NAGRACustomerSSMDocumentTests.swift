import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

/// What NAGRA's "Customer SSM" page has the player ask of the app, beside `CustomerSession`.
///
/// On record are two callbacks, the key system, two kinds of license request, and what a license may say: the CKC, a number of
/// seconds (0 unless given) and how the session is kept alive (by license renewals unless given). Addresses, headers and bodies
/// are the app's own.
@Suite(.timeLimit(.minutes(5))) struct NAGRACustomerSSMDocumentTests {
    /// A license that the app's callback returns.
    struct Input: Sendable, CustomTestStringConvertible {
        let ckc: Data?
        let seconds: Int
        let renewal: SessionRenewal

        var testDescription: String { "\(ckc.map { "\($0.count) bytes" } ?? "no license"), \(seconds) s, \(renewal)" }
    }

    static let inputs: [Input] =
        inputs(.enforced) + inputs(.heartbeat)
        + [Input(ckc: SampleBytes.ckc(), seconds: .max, renewal: .heartbeat)]

    private static func inputs(_ renewal: SessionRenewal) -> [Input] {
        let seconds: [Int] = [
            0, -1, .min, 1, 2, 3, 5, 7, 10, 15, 30, 45, 60, 61, 90, 300, 3_600, 86_400, 31_536_000,
        ]
        let licenses = seconds.map { Input(ckc: SampleBytes.ckc(), seconds: $0, renewal: renewal) }
        return licenses + [Input(ckc: nil, seconds: 10, renewal: renewal)]
    }

    /// The calls of the first license and of the three periods behind it, by the page.
    private static func documented(_ input: Input) -> [String] {
        let first = ["license 94CE86FB-07FF-4F43-ADB8-93D2FA968CA2 0"]
        // Without a license there is no session to keep alive; without a number of seconds there is no period.
        guard input.ckc != nil, input.seconds > 0 else { return first }
        let again = input.renewal == .enforced ? "license 94CE86FB-07FF-4F43-ADB8-93D2FA968CA2 1" : "heartbeat"
        return first + [again, again, again]
    }

    @Test(arguments: inputs)
    func `the app is called as the page says`(input: Input) async throws {
        let clock = ManualTimekeeper()
        let app = CallbackLog(input)
        let session = try CustomerSession(certificate: SampleBytes.certificate, callbacks: app, timekeeper: clock)
        let renewals = Locked<[KeyRequest]>([])
        session.attach(
            renew: { [weak session] in
                guard let session else { return }
                let renewal = session.answer(FakeKeyRequest(SessionHarness.key, purpose: .renewal))
                renewals.withLock { $0.append(renewal) }
            }, fail: { _ in })
        let request = FakeKeyRequest(SessionHarness.key)
        await session.answer(request).workEnded()
        #expect(await request.firstAnswer().ckc == input.ckc)
        let documented = Self.documented(input)
        for number in 1..<documented.count {
            // Latchkey waits for a year at most, which no session lasts.
            let period = Duration.seconds(Int64(min(input.seconds, 31_536_000)))
            func pass() async {
                await clock.untilSomeoneSleeps(for: period)
                clock.advance(by: period)
            }
            await pass()
            var turns = 0
            while app.calls.count <= number, !Task.isCancelled {
                turns += 1
                // A heartbeat that comes due before the last one has returned waits for the next period.
                if input.renewal == .heartbeat, turns % 10_000 == 0 { await pass() }
                await Task.yield()
            }
            // What a license says counts from its request on, and so before the next period ends.
            if input.renewal == .enforced {
                while renewals.withLock({ $0.count }) < number, !Task.isCancelled { await Task.yield() }
                await renewals.withLock { $0.last }?.workEnded()
            }
        }
        #expect(app.calls == documented)
        if documented.count == 1 { #expect(await clock.isQuiet()) }
    }

    @Test func `there are forty licenses at least`() { #expect(Self.inputs.count >= 40) }

    @Test func `a license that says nothing is enforced and sets no period`() {
        let license = CustomerLicense(ckc: SampleBytes.ckc())
        #expect(license.heartbeat == 0 && license.renewType == .enforced)
        #expect(CustomerLicenseType.request.rawValue == 0 && CustomerLicenseType.renewal.rawValue == 1)
    }
}

/// The app's callbacks, which always return the same license.
private final class CallbackLog: CustomerSessionCallbacks {
    private struct NoLicense: Error {}
    private let input: NAGRACustomerSSMDocumentTests.Input
    private let log = Locked<[String]>([])

    init(_ input: NAGRACustomerSSMDocumentTests.Input) { self.input = input }

    var calls: [String] { log.withLock { $0 } }

    func license(keySystem: String, payload: Data, type: CustomerLicenseType) async throws -> CustomerLicense {
        log.withLock { $0.append("license \(keySystem) \(type.rawValue)") }
        guard let ckc = input.ckc else { throw NoLicense() }
        return CustomerLicense(ckc: ckc, heartbeat: input.seconds, renewType: input.renewal)
    }

    func heartbeat() async throws { log.withLock { $0.append("heartbeat") } }
}
