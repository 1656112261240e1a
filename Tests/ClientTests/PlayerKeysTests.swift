import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Keys of players that make SPCs themselves.
@Suite(.timeLimit(.minutes(5))) struct PlayerKeysTests {
    private static let leasing: VendorProfile = {
        var profile = VendorProfile.raw
        profile.terms = TermsRule(lease: .setting("lease"))
        return profile.setting("lease", to: "600")
    }()
    private let spc = Data(repeating: 1, count: 64)

    /// The answers of calls, in order of arrival.
    private final class Answers<Value: Sendable>: Sendable {
        private let all = Locked<[Result<Value, ContentKeyError>]>([])
        private let (stream, continuation) = AsyncStream<Void>.makeStream()

        var give: @Sendable (Result<Value, ContentKeyError>) -> Void {
            { [self] result in
                all.withLock { $0.append(result) }
                continuation.yield()
            }
        }

        /// Waits for a number of answers.
        func first(_ count: Int) async -> [Result<Value, ContentKeyError>] {
            for await _ in stream where all.withLock({ $0.count >= count }) { break }
            return all.withLock { $0 }
        }

        var now: [Result<Value, ContentKeyError>] { all.withLock { $0 } }
    }

    @Test func `the certificate and a license come once each`() async throws {
        let harness = Harness()
        let keys = PlayerKeys(harness.loader)
        let (certificates, licenses) = (Answers<Data>(), Answers<PlayerLicense>())
        keys.certificate(completion: certificates.give)
        let certificate = await certificates.first(1)
        keys.license(for: spc, key: key, completion: licenses.give)
        let license = await licenses.first(1)
        keys.release()
        #expect(try certificate.first?.get() == SampleBytes.certificate)
        #expect(try license.first?.get().ckc == SampleBytes.ckc())
        #expect(try license.first?.get().renewalDate == nil)
        #expect(certificates.now.count == 1 && licenses.now.count == 1)
    }

    @Test func `an empty SPC is an error, and nothing is sent for it`() async throws {
        let harness = Harness()
        let keys = PlayerKeys(harness.loader)
        let answers = Answers<PlayerLicense>()
        keys.license(for: Data(), key: key, completion: answers.give)
        let answer = await answers.first(1)
        #expect(throws: ContentKeyError.self) { try answer.first?.get() }
        #expect(harness.transport.requests.allSatisfy { $0.httpMethod != "POST" })
    }

    @Test func `a key with a renewal date is requested to renew it`() async throws {
        let harness = Harness(Self.leasing.unchecked)
        let keys = PlayerKeys(harness.loader)
        let answers = Answers<PlayerLicense>()
        keys.license(for: spc, key: key, completion: answers.give)
        let date = try await answers.first(1).first?.get().renewalDate
        #expect(date.map { $0 > harness.clock.date && $0 < harness.clock.date.addingTimeInterval(600) } == true)
        keys.license(for: spc, key: key, completion: answers.give)
        keys.license(for: spc, key: "skd://fairplay-license.vudrm.tech/license/other", completion: answers.give)
        _ = await answers.first(3)
        let licenses = harness.credentials.reasons.filter { $0 != .certificate }
        #expect(licenses.count { $0 == .renewal } == 1)
        #expect(licenses.count { $0 == .first } == 2)
    }

    @Test func `a key without a renewal date is requested anew`() async throws {
        let harness = Harness()
        let keys = PlayerKeys(harness.loader)
        let answers = Answers<PlayerLicense>()
        for count in 1...2 {
            keys.license(for: spc, key: key, completion: answers.give)
            _ = await answers.first(count)
        }
        #expect(harness.credentials.reasons.filter { $0 != .certificate } == [.first, .first])
    }

    @Test func `a key to be stored is not renewed`() async throws {
        let harness = Harness(Self.leasing.unchecked)
        let keys = PlayerKeys(harness.loader)
        let answers = Answers<PlayerLicense>()
        keys.license(for: spc, key: key, purpose: .persistable, completion: answers.give)
        _ = await answers.first(1)
        #expect(harness.credentials.reasons.filter { $0 != .certificate } == [.offline])
        #expect(!harness.loader.requests.holdsKeys)
    }

    enum End: CaseIterable { case release, keysGo, loaderIsCancelled }

    @Test(arguments: End.allCases)
    func `open calls end with an error, once`(_ end: End) async throws {
        let harness = Harness(get: [.hang], post: [.hang])
        var keys: PlayerKeys? = PlayerKeys(harness.loader)
        let (certificates, licenses) = (Answers<Data>(), Answers<PlayerLicense>())
        keys?.certificate(completion: certificates.give)
        keys?.license(for: spc, key: key, completion: licenses.give)
        switch end {
        case .release: keys?.release()
        case .keysGo: keys = nil
        case .loaderIsCancelled: harness.loader.cancel()
        }
        let certificate = await certificates.first(1)
        let license = await licenses.first(1)
        #expect(throws: ContentKeyError.self) { try certificate.first?.get() }
        #expect(throws: ContentKeyError.self) { try license.first?.get() }
        keys?.release()
        #expect(certificates.now.count == 1 && licenses.now.count == 1)
    }

    @Test func `released keys are dropped, but not another player's`() async throws {
        let harness = Harness(Self.leasing.unchecked)
        let (one, other) = (PlayerKeys(harness.loader), PlayerKeys(harness.loader))
        let answers = Answers<PlayerLicense>()
        for (count, keys) in [one, other].enumerated() {
            keys.license(for: spc, key: key, completion: answers.give)
            _ = await answers.first(count + 1)
        }
        one.release()
        #expect(harness.loader.requests.holdsKeys)
        other.release()
        #expect(!harness.loader.requests.holdsKeys)
    }

    @Test func `a lease that the player does not renew ends in one call`() async throws {
        let harness = Harness(Self.leasing.unchecked)
        let ends = Answers<KeyURI>()
        let keys = PlayerKeys(harness.loader) { if let key = $0.key { ends.give(.success(key)) } }
        let answers = Answers<PlayerLicense>()
        keys.license(for: spc, key: key, completion: answers.give)
        _ = await answers.first(1)
        let passing = Task { [clock = harness.clock] in
            while !Task.isCancelled {
                await clock.untilSomeoneSleeps()
                clock.advance(by: .seconds(10))
                await Task.yield()
            }
        }
        let ended = await ends.first(1)
        passing.cancel()
        #expect(try ended.first?.get() == key)
        #expect(!harness.loader.requests.holdsKeys)
        withExtendedLifetime(keys) {}
    }
}
