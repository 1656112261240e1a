import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeySupport

/// A bundle makes the error again that it was made of.
@Suite(.timeLimit(.minutes(5))) struct SupportReplayTests {
    @Test(arguments: CapturedFailure.all)
    func `a replay ends with the same code at the same stage`(_ failure: CapturedFailure) async throws {
        let (error, bundle) = try await failure.captured()
        #expect(error?.kind == failure.kind)
        #expect(error?.stage == failure.stage)
        #expect(try SupportBundle(bundle).failure?.code == failure.kind.rawValue)
        #expect(try SupportBundle(bundle).failure?.stage == failure.stage.rawValue)
        let replayed = try await CapturedFailure.replayed(bundle)
        #expect(replayed.map(\.kind) == [failure.kind])
        #expect(replayed.map(\.stage) == [failure.stage])
        #expect(replayed.first?.attempts == error?.attempts)
    }

    @Test func `a refusal repeated to a player eight times is replayed once`() async throws {
        let failure = CapturedFailure(.notFound, at: .license) { $0.post = [.status(404)] }
        let (error, bundle) = try await failure.captured(asking: 8)
        #expect(error?.isRepeated == true)
        let replayed = try await CapturedFailure.replayed(bundle)
        #expect(replayed.map(\.kind) == [.notFound] && replayed.first?.isRepeated == false)
    }

    @Test func `a key that comes comes again`() async throws {
        let (error, bundle) = try await CapturedFailure(.dropped, at: .license).captured()
        #expect(error == nil)
        #expect(try SupportBundle(bundle).failure == nil)
        #expect(try await CapturedFailure.replayed(bundle).isEmpty)
    }

    /// Which kinds no exchange leads to, and why a bundle cannot make them again.
    private static let others: [Diagnosis.Kind: String] = {
        var reasons: [Diagnosis.Kind: String] = [
            .cancelled: "the app or the player ended the request", .dropped: "the adapter forgot it",
            .integrationFailed: "the app's own code, which is not in the bundle",
            .certificateMissing: "an integration in code that bundles none",
            .leaseEnded: "time after the answer", .playerDidNotRenew: "the player, after the answer",
            .sessionEnded: "the player's order of calls", .sessionNotRenewed: "the player, after the answer",
            .unknownIntegration: "before there is a loader",
            .playlistUnreadable: "a preload's; `latchkey replay` reads a stream's playlist itself",
        ]
        for kind in Diagnosis.Kind.all where kind.number >= 400 {
            reasons[kind] = kind.number < 500 ? "the device's store" : "the player"
        }
        return reasons
    }()

    @Test func `each kind of the catalog is reproduced, or is known not to come from an exchange`() {
        let made = Set(CapturedFailure.all.map(\.kind))
        #expect(made.isDisjoint(with: Self.others.keys))
        #expect(Set(Diagnosis.Kind.all).subtracting(made).subtracting(Self.others.keys) == [])
    }

    @Test func `a loader's bundles have the same bytes`() async throws {
        let failure = CapturedFailure(.forbidden, at: .license) { $0.post = [.status(403)] }
        let (one, other) = (try await failure.captured().bundle, try await failure.captured().bundle)
        #expect(one == other)
    }

    @Test func `a bundle has the certificate but no CKC`() async throws {
        let bundle = try await CapturedFailure(.dropped, at: .license).captured().bundle
        let exchanges = try SupportBundle(bundle).exchanges
        #expect(exchanges.map(\.stage) == ["certificate", "license"])
        let ckc = try #require(exchanges.last?.reply?.body)
        #expect(ckc.count == SampleBytes.ckc().count && ckc != SampleBytes.ckc())
        #expect(ckc.dropFirst(28).allSatisfy { $0 == 0xa5 })
    }
}
