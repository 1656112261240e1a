import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

@Suite(.timeLimit(.minutes(5))) struct LeaseTests {
    private static let lease = LicenseTerms(.lease(.seconds(600)))

    @Test func `a lease is renewed by a new player request after three quarters of it`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let (first, _) = await harness.play()
            try await harness.pass(.seconds(449))
            #expect(harness.requests.count == 1)
            try await harness.pass(.seconds(1))
            #expect(harness.requests.map(\.purpose) == [.streaming, .renewal])
            #expect(harness.requests.last?.answers.map(\.ckc) == [SampleBytes.ckc(2)])
            #expect(first.renewals == 1 && first.answers.count == 1)
        }
    }

    @Test func `each renewal asks for fresh credentials and goes to the service`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            await harness.play()
            for _ in 1...3 { try await harness.pass(.seconds(450)) }
            #expect(harness.credentials.reasons == [.first, .renewal, .renewal, .renewal])
            #expect(harness.transport.requests.count == 4)
            #expect(harness.requests.allSatisfy { $0.answers.count == 1 })
        }
    }

    @Test(arguments: [
        LicenseTerms(), LicenseTerms(.rental(.seconds(600))), LicenseTerms(.persistent),
        LicenseTerms(.persistentFor(.seconds(600))),
        LicenseTerms(.dualExpiry(storage: .seconds(600), playback: .seconds(60))),
    ])
    func `keys without a lease are not renewed, despite the vendor's interval`(_ terms: LicenseTerms) async throws {
        try await LeaseHarness.run(terms, RenewalPolicy(interval: 100)) { harness in
            await harness.play()
            #expect(await harness.isQuiet())
        }
    }

    @Test func `without a lease in the license the app's counts, else the vendor's interval`() async throws {
        let vendor = RenewalPolicy(interval: 100)
        try await LeaseHarness.run(nil, vendor, configure: { $0.leases.assumedLease = .seconds(1_000) }) { harness in
            await harness.play()
            try await harness.pass(.seconds(750))
            #expect(harness.requests.count == 2)
        }
        try await LeaseHarness.run(nil, vendor) { harness in
            await harness.play()
            try await harness.pass(.seconds(250))
            #expect(harness.requests.count == 3)
        }
    }

    @Test func `a failed renewal is retried, and a successful one starts a new lease`() async throws {
        let answer: @Sendable (Int) -> FakeTransport.Step = { $0 == 2 ? .status(503) : .ok(SampleBytes.ckc($0)) }
        try await LeaseHarness.run(Self.lease, answer: answer) { harness in
            let (first, _) = await harness.play()
            try await harness.pass(.seconds(455))
            #expect(harness.requests.map { $0.answers.first?.ckc } == [SampleBytes.ckc(1), nil, SampleBytes.ckc(3)])
            try await harness.pass(.seconds(450))
            #expect(harness.requests.count == 4 && first.ends.isEmpty)
        }
    }

    @Test func `a lease that cannot be renewed ends with one error and is then left alone`() async throws {
        let answer: @Sendable (Int) -> FakeTransport.Step = { $0 == 1 ? .ok(SampleBytes.ckc(1)) : .status(503) }
        try await LeaseHarness.run(Self.lease, answer: answer) { harness in
            let (first, _) = await harness.play()
            try await harness.pass(.seconds(599))
            #expect(first.ends.isEmpty)
            try await harness.pass(.seconds(1))
            #expect(first.ends.map(\.code) == ["leaseEnded"] && first.answers.count == 1)
            #expect(first.ends.first?.isRetryable == true)
            #expect(first.ends.first?.reason.contains("serverTransient") == true)
            let renewals = harness.requests.dropFirst()
            #expect(renewals.count > 4)
            #expect(renewals.allSatisfy { $0.answers.map(\.error?.code) == ["serverTransient"] && $0.ends.isEmpty })
            #expect(await harness.isQuiet())
        }
    }

    @Test func `a renewal under way when the lease ends gets the same error`() async throws {
        try await LeaseHarness.run(
            Self.lease, answer: { $0 == 1 ? .ok(SampleBytes.ckc(1)) : .hang },
            configure: {
                $0.retry = RetryPolicy(maximumAttempts: 1, attemptTimeout: .seconds(900), deadline: .seconds(900))
            },
            { harness in
                let (first, _) = await harness.play()
                try await harness.pass(.seconds(600))
                #expect(harness.requests.last?.answers.map(\.error?.code) == ["leaseEnded"])
                #expect(first.ends.map(\.code) == ["leaseEnded"])
                #expect(await harness.isQuiet())
            })
    }

    @Test func `a player without a renewal is asked again until the lease ends`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let (first, _) = await harness.play(harness.request(comes: false))
            try await harness.pass(.seconds(600))
            #expect(first.renewals > 2)
            #expect(first.ends.map(\.code) == ["leaseEnded"])
            #expect(first.ends.first?.reason.contains("playerDidNotRenew") == true)
        }
    }

    @Test func `a player that cannot renew learns why its lease ended`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let request = FakeKeyRequest(LeaseHarness.key)
            await harness.play(request)
            try await harness.pass(.seconds(600))
            #expect(request.renewals == 1)
            #expect(request.ends.map(\.code) == ["leaseEnded"])
            #expect(request.ends.first?.reason.contains("no way to renew") == true)
        }
    }

    @Test func `a released key is no longer renewed, even after renewals`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let (_, handle) = await harness.play()
            try await harness.pass(.seconds(450))
            handle.release()
            #expect(await harness.isQuiet())
            #expect(harness.requests.count == 2)
        }
    }

    @Test func `a key that its answer releases is not held`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let handle = Locked<KeyRequest?>(nil)
            let request = FakeKeyRequest(LeaseHarness.key)
            let made = harness.loader.answer(ReleasingRequest(request) { handle.withLock { $0 }?.release() })
            handle.withLock { $0 = made }
            #expect(await request.firstAnswer().ckc != nil)
            #expect(await harness.isQuiet())
        }
    }

    @Test func `cancelling the loader or changing the source leaves no timer behind`() async throws {
        for end in [{ $0.cancel() }, { $0.release(.only) }] as [@Sendable (ContentKeyLoader) -> Void] {
            try await LeaseHarness.run(Self.lease) { harness in
                let (request, _) = await harness.play()
                end(harness.loader)
                #expect(await harness.isQuiet())
                #expect(request.ends.isEmpty)
            }
        }
    }

    @Test func `a new request for a key replaces the old one, but not another player's`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            await harness.play()
            try await harness.pass(.seconds(100))
            await harness.play()
            await harness.play(harness.request(player: "airplay"))
            try await harness.pass(.seconds(450))
            #expect(harness.requests.map(\.renewals) == [0, 1, 1, 0, 0])
        }
    }

    @Test func `work due while the app was suspended is done once`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let (first, _) = await harness.play()
            harness.loader.suspend(.only)
            harness.time.jump(by: .seconds(500))
            try await harness.pass(.seconds(1))
            #expect(first.renewals == 0)
            harness.loader.resume(.only)
            try await harness.pass(.seconds(1))
            #expect(first.renewals == 1 && harness.requests.count == 2)
        }
    }

    @Test func `an app that was frozen without warning renews once on waking`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let (first, _) = await harness.play()
            harness.time.jump(by: .seconds(599))
            try await harness.pass(.zero)
            #expect(first.renewals == 1 && first.ends.isEmpty && harness.requests.count == 2)
        }
    }

    @Test func `one renewal restores a lease that ended while the app was suspended`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let (first, _) = await harness.play()
            harness.loader.suspend(.only)
            harness.time.jump(by: .seconds(5_000))
            try await harness.pass(.seconds(1))
            #expect(first.ends.isEmpty && first.renewals == 0)
            harness.loader.resume(.only)
            try await harness.pass(.seconds(450))
            #expect(harness.requests.map(\.purpose) == [.streaming, .renewal, .renewal])
            #expect(harness.requests.allSatisfy { $0.ends.isEmpty })
        }
    }

    @Test func `a lease that ended during suspension ends with one error if its renewal fails`() async throws {
        let answer: @Sendable (Int) -> FakeTransport.Step = { $0 == 1 ? .ok(SampleBytes.ckc(1)) : .status(403) }
        try await LeaseHarness.run(Self.lease, answer: answer) { harness in
            let (first, _) = await harness.play()
            harness.loader.suspend(.only)
            harness.time.jump(by: .seconds(5_000))
            harness.loader.resume(.only)
            try await harness.pass(.seconds(60))
            #expect(first.ends.map(\.code) == ["leaseEnded"])
            #expect(await harness.isQuiet())
        }
    }

    @Test func `a player that cannot renew learns immediately that its lease ended meanwhile`() async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            let request = FakeKeyRequest(LeaseHarness.key)
            await harness.play(request)
            harness.time.jump(by: .seconds(5_000))
            try await harness.pass(.seconds(1))
            #expect(request.ends.map(\.code) == ["leaseEnded"])
        }
    }

    @Test(arguments: [-86_400.0, 86_400])
    func `a date set forward or back moves no renewal`(_ jump: Double) async throws {
        try await LeaseHarness.run(Self.lease) { harness in
            await harness.play()
            harness.time.setDate(harness.time.date.addingTimeInterval(jump))
            try await harness.pass(.seconds(450))
            #expect(harness.requests.count == 2)
        }
    }

}

/// A request that does something when it is answered.
private struct ReleasingRequest: PlayerKeyRequest {
    let base: FakeKeyRequest
    let onAnswer: @Sendable () -> Void

    init(_ base: FakeKeyRequest, onAnswer: @escaping @Sendable () -> Void) {
        self.base = base
        self.onAnswer = onAnswer
    }

    var keyURI: KeyURI { base.keyURI }
    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        try await base.makeSPC(certificate: certificate, contentIdentifier: contentIdentifier)
    }
    func answer(_ result: Result<Data, ContentKeyError>) {
        onAnswer()
        base.answer(result)
    }
}
