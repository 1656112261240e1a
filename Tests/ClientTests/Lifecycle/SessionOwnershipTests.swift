import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

/// A secure session lives as long as the keys that the loader holds.
@Suite(.timeLimit(.minutes(5))) struct SessionOwnershipTests {
    private let harness = SessionHarness()

    private func play(renewing: @escaping @Sendable (FakeKeyRequest) -> Bool = { _ in false }) async throws -> (
        request: FakeKeyRequest, handle: KeyRequest
    ) {
        let request = FakeKeyRequest(SessionHarness.key, renewing: renewing)
        let handle = try harness.loader.answer(request)
        _ = await request.firstAnswer()
        return (request, handle)
    }

    @Test func `it ends when the last key is released, and the next key opens another`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        let (_, first) = try await play()
        let other = FakeKeyRequest("skd://b3RoZXI=?x=1")
        let second = try harness.loader.answer(other)
        _ = await other.firstAnswer()
        first.release()
        #expect(harness.service.openSessions.count == 1)
        second.release()
        #expect(await events.states(until: .off).last == .off)
        #expect(harness.service.openSessions.isEmpty)
        _ = try await play()
        #expect(harness.service.sessionCount == 2)
    }

    @Test func `a refused key leaves no session behind`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        harness.service.fault("license", .status(403), .status(403))
        let (request, _) = try await play()
        #expect(request.answers.first?.error?.code == "forbidden")
        #expect(await events.states(until: .off).last == .off)
        #expect(harness.service.openSessions.isEmpty)
    }

    @Test func `its failure ends each key once`() async throws {
        var events = try harness.loader.events().makeAsyncIterator()
        let (request, _) = try await play()
        harness.service.fault("heartbeat", .status(403), .status(403))
        await harness.passPeriod()
        _ = await events.states(until: .error)
        try harness.loader.release(.only)
        _ = await events.states(until: .off)
        #expect(request.ends.map(\.code) == ["forbidden"])
        #expect(request.answers.count == 1)
    }

    @Test func `the player that holds the key makes the renewals that keep it alive`() async throws {
        harness.service.enforce()
        let loader = try harness.loader
        var events = loader.events().makeAsyncIterator()
        let (request, _) = try await play { [weak loader] request in
            loader?.answer(FakeKeyRequest(request.keyURI, purpose: .renewal))
            return true
        }
        _ = await events.states(until: .on)
        await harness.passPeriod()
        #expect(await events.states(until: .on) == [.renewalRequested, .on])
        #expect(request.renewals == 1 && request.ends.isEmpty)
        #expect(harness.service.log.last?.hasPrefix("renew ") == true)
    }
}
