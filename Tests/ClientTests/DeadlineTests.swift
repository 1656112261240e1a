import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Nothing that an app, a player or a server forgets leaves a key without an answer.
@Suite(.timeLimit(.minutes(5))) struct DeadlineTests {
    @Test(arguments: [FakeTransport.Step.hang, .never])
    func `a server that does not answer costs one attempt's time, and is retried`(step: FakeTransport.Step) async {
        let harness = Harness(post: [step, .ckc])
        let request = FakeKeyRequest(key)
        harness.loader.answer(request)
        await harness.transport.untilRequested(2)
        await harness.advance([.seconds(10), .milliseconds(500)])
        #expect(await request.firstAnswer().ckc == SampleBytes.ckc())
    }

    @Test func `a server that never answers is named as the cause`() async {
        let harness = Harness(post: [.hang]) { $0.retry.maximumAttempts = 2 }
        let request = FakeKeyRequest(key)
        harness.loader.answer(request)
        await harness.transport.untilRequested(2)
        await harness.advance([.seconds(10), .milliseconds(500)])
        await harness.transport.untilRequested(3)
        await harness.advance([.seconds(10)])
        let error = await request.firstAnswer().error
        #expect(error?.code == "timedOut" && error?.stage == .license && error?.attempts == 2)
        #expect(error?.reason == "The server did not answer within 10 s.")
    }

    @Test func `an attempt's time covers all its redirects`() async {
        let clock = Locked<ManualTimekeeper?>(nil)
        let harness = Harness(
            over: FakeTransport { request, number in
                guard request.httpMethod == "POST" else { return .certificate }
                _ = clock.withLock { $0?.advance(by: .seconds(3)) }
                return .status(307, [("Location", "/again\(number)")])
            }
        ) { $0.retry.maximumAttempts = 1 }
        clock.withLock { $0 = harness.clock }
        #expect(await harness.answer().error?.code == "timedOut")
        #expect(harness.posts.count <= 4)
    }

    @Test func `a player that makes no SPC is answered at the deadline`() async {
        let harness = Harness()
        let isAsked = Gate()
        let request = FakeKeyRequest(key) {
            isAsked.open()
            return await Never.returning()
        }
        harness.loader.answer(request)
        await isAsked.wait()
        await harness.advance([.seconds(30)])
        let error = await request.firstAnswer().error
        #expect(error?.code == "deadlineExceeded" && error?.stage == .spc && error?.isRetryable == true)
        #expect(error?.reason == "There was no answer within 30 s.")
    }

    // A lone step has no key's deadline around it.
    @Test func `a single step ends at the deadline, before its attempt does`() async {
        let harness = Harness(post: [.hang]) { $0.retry.deadline = .seconds(5) }
        let task = Task { try await harness.loader.license(for: SPCMessage(SampleBytes.spc), key: key) }
        await harness.transport.untilRequested(1)
        await harness.advance([.seconds(5)])
        let error = await task.result.error as? ContentKeyError
        #expect(error?.code == "deadlineExceeded" && error?.stage == .license)
        #expect(error?.reason.hasPrefix("There was no answer within 5 s") == true)
    }

    @Test func `a deadline names the stage and the last failure`() async {
        let harness = Harness(post: [.status(500), .hang]) { $0.retry.deadline = .seconds(5) }
        let error = await harness.error(after: .milliseconds(500), .milliseconds(4_500))
        #expect(error?.code == "deadlineExceeded" && error?.stage == .license)
        #expect(error?.reason.hasSuffix("; the last attempt failed with serverTransient.") == true)
        #expect(error?.attempts == 2)
    }

    @Test func `a deadline during the third attempt counts three`() async {
        let harness = Harness(post: [.status(500), .status(500), .hang]) { $0.retry.deadline = .seconds(5) }
        let error = await harness.error(after: .milliseconds(500), .seconds(1), .milliseconds(3_500))
        #expect(error?.code == "deadlineExceeded" && error?.attempts == 3)
        #expect(error?.reason == "There was no answer within 5 s; the last attempt failed with serverTransient.")
    }

    @Test func `credentials that never come end the attempt`() async {
        let isAsked = Gate()
        let never = Credentials { _ in
            isAsked.open()
            return await Never.returning()
        }
        let harness = Harness(VendorProfile.raw.unchecked, credentials: never) { $0.retry = .never }
        let request = FakeKeyRequest(key)
        harness.loader.answer(request)
        await isAsked.wait()
        await harness.advance([.seconds(10)])
        let error = await request.firstAnswer().error
        #expect(error?.code == "credentialsFailed" && error?.stage == .license)
        #expect(error?.reason == "The app gave no credentials within 10 s.")
    }

    @Test func `a hook that never returns ends the attempt, in each public step`() async throws {
        struct Stuck: VendorIntegration {
            let identifier = "stuck"
            func certificateRequest(_ context: CertificateContext) async throws -> URLRequest? {
                await Never.returning()
            }
            func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
                await Never.returning()
            }
        }
        let spc = SPCMessage(SampleBytes.spc)
        let steps: [@Sendable (ContentKeyLoader) async throws -> Void] = [
            { _ = try await $0.applicationCertificate() }, { _ = try await $0.certificateRequest() },
            { _ = try await $0.licenseRequest(for: spc, key: key) }, { _ = try await $0.license(for: spc, key: key) },
        ]
        for step in steps {
            let harness = Harness(Stuck()) { $0.retry = .never }
            async let result = Result { try await step(harness.loader) }
            await harness.advance([.seconds(10)])
            #expect(await (result.error as? ContentKeyError)?.code == "integrationFailed")
        }
    }

    @Test func `a cancelled task ends its step immediately`() async {
        let harness = Harness(post: [.never])
        let task = Task { try await harness.loader.license(for: SPCMessage(SampleBytes.spc), key: key) }
        await harness.transport.untilRequested(1)
        task.cancel()
        #expect(await (task.result.error as? ContentKeyError)?.code == "cancelled")
    }
}
