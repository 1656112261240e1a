import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct CertificateCacheTests {
    private func gets(_ harness: Harness) -> Int { harness.transport.requests.count { $0.httpMethod == "GET" } }

    @Test func `a hundred keys wait for one fetch`() async {
        let harness = Harness()
        let requests = (0..<100).map { _ in FakeKeyRequest(key) }
        for request in requests { harness.loader.answer(request) }
        for request in requests { #expect(await request.firstAnswer().ckc == SampleBytes.ckc()) }
        #expect(gets(harness) == 1)
        #expect(requests.allSatisfy { $0.certificates == [SampleBytes.certificate] })
    }

    @Test func `the certificate is fetched when the loader is made`() async {
        let harness = Harness { $0.certificateFetch = .atOnce }
        await harness.transport.untilRequested(1)
        #expect(harness.posts.isEmpty)
        _ = await harness.answer()
        #expect(gets(harness) == 1)
    }

    @Test func `the certificate is fetched again when it expires`() async throws {
        let harness = Harness { $0.certificateLifetime = .seconds(60) }
        _ = try await harness.loader.applicationCertificate()
        harness.clock.advance(by: .seconds(59))
        _ = try await harness.loader.applicationCertificate()
        #expect(gets(harness) == 1)
        harness.clock.advance(by: .seconds(1))
        _ = try await harness.loader.applicationCertificate()
        #expect(gets(harness) == 2)
    }

    @Test func `waiters share a failed fetch, which is not cached`() async throws {
        let harness = Harness(get: [.status(404), .certificate])
        let error = await harness.answer().error
        #expect(error?.code == "notFound" && error?.stage == .certificate)
        let next = FakeKeyRequest("skd://fairplay-license.vudrm.tech/license/def")
        #expect(await harness.answer(next).ckc == SampleBytes.ckc())
        #expect(gets(harness) == 2)
    }

    @Test func `cancelling one key keeps the certificate`() async {
        let gate = Gate()
        let harness = Harness(
            over: FakeTransport { request, _ in
                guard request.httpMethod == "GET" else { return .ckc }
                await gate.wait()
                return .certificate
            })
        let (first, second) = (FakeKeyRequest(key), FakeKeyRequest(key))
        let handle = harness.loader.answer(first)
        harness.loader.answer(second)
        await harness.transport.untilRequested(1)
        handle.cancel()
        #expect(first.answers.map(\.error?.code) == ["cancelled"])
        gate.open()
        #expect(await second.firstAnswer().ckc == SampleBytes.ckc())
        #expect(gets(harness) == 1)
    }

    @Test func `a credentials closure that never returns blocks no later key`() async {
        let (isStuck, isAsked) = (Locked(true), Gate())
        let credentials = Credentials { _ in
            isAsked.open()
            return isStuck.withLock { $0 } ? await Never.returning() : .token(token)
        }
        let harness = Harness(VendorProfile.json.unchecked, credentials: credentials) { $0.retry = .never }
        let request = FakeKeyRequest(key)
        harness.loader.answer(request)
        await isAsked.wait()
        await harness.advance([.seconds(10)])
        let error = await request.firstAnswer().error
        #expect(error?.code == "credentialsFailed" && error?.stage == .certificate)
        isStuck.withLock { $0 = false }
        #expect(await harness.answer().ckc == SampleBytes.ckc())
    }

    @Test func `a bundled certificate needs no request`() async throws {
        var profile = VendorProfile.raw
        profile.certificate = .inline(setting: "certificate")
        profile.settings["certificate"] = SampleBytes.certificate.base64EncodedString()
        let harness = Harness(profile.unchecked)
        #expect(try await harness.loader.applicationCertificate().bytes == SampleBytes.certificate)
        #expect(try await harness.loader.certificateRequest() == nil)
        #expect(harness.transport.requests.isEmpty)
    }

    @Test func `a certificate bundle goes to the player as it is, with a warning`() async {
        let bundle = Data((0..<1_432).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 129) })
        let harness = Harness(get: [.ok(bundle)])
        let events = harness.loader.events()
        let request = FakeKeyRequest(key)
        #expect(await harness.answer(request).ckc == SampleBytes.ckc())
        #expect(request.certificates == [bundle])
        let formats = await events.untilAnswered().compactMap { event in
            if case .certificateUnrecognized(let format) = event.kind { format } else { nil }
        }
        #expect(formats == ["data of no known form (1432 bytes)"])
    }

    @Test func `a missing certificate is reported`() async {
        struct Bare: VendorIntegration { let identifier = "bare" }
        let error = await Harness(Bare()).answer().error
        #expect(error?.code == "certificateMissing" && error?.stage == .certificate)
    }

    @Test func `a cancelled loader stops the fetch and starts no other`() async {
        let harness = Harness(get: [.hang])
        async let waiting = Result { try await harness.loader.applicationCertificate() }
        await harness.transport.untilRequested(1)
        harness.loader.cancel()
        #expect(await (waiting.error as? ContentKeyError)?.code == "cancelled")
        await #expect(throws: ContentKeyError.self) { try await harness.loader.applicationCertificate() }
        #expect(gets(harness) == 1)
    }

    @Test func `a released loader cancels its fetch`() async {
        let isCancelled = Locked(false)
        let transport = FakeTransport { _, _ in
            let never = Gate()
            await withTaskCancellationHandler {
                await never.wait()
            } onCancel: {
                isCancelled.withLock { $0 = true }
                never.open()
            }
            return .certificate
        }
        do {
            let harness = Harness(over: transport) { $0.certificateFetch = .atOnce }
            await harness.transport.untilRequested(1)
            #expect(!isCancelled.withLock { $0 })
        }
        // The last reference may go a little later, in the task of the fetch.
        while !isCancelled.withLock({ $0 }), !Task.isCancelled { await Task.yield() }
        #expect(isCancelled.withLock { $0 })
    }
}
