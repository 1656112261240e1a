import Foundation
import LatchkeyCore
@_spi(Adapters) import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@_spi(Adapters) @testable import Latchkey

/// Keys of streaming licenses that are kept for replays.
@Suite(.timeLimit(.minutes(5))) struct LicenseCacheTests {
    private static let audio: KeyURI = "skd://keys.example.com/audio"
    private static let video: KeyURI = "skd://keys.example.com/video"
    private let store = MemoryKeyStore()

    /// A loader for a vendor whose keys may be kept for an hour.
    private func harness(
        _ terms: LicenseTerms? = nil, allowed: Int? = 3_600, post: [FakeTransport.Step] = [.ckc],
        policy change: (inout LicenseCachePolicy) -> Void = { _ in }
    ) -> Harness {
        var policy = LicenseCachePolicy(store: store)
        change(&policy)
        let vendor = TermedVendor(terms: terms, renewal: RenewalPolicy(cacheLifetime: allowed))
        // Each stored key has its own name.
        return Harness(vendor, post: post, isSeeded: false) {
            $0.licenseCache = policy
            $0.leases = LeasePolicy(jitter: 0)
        }
    }

    /// Plays a key as a player that can keep it.
    @discardableResult
    private func play(
        _ harness: Harness, _ key: KeyURI = video, of asset: AssetID? = "movie", canKeep: Bool = true
    ) async -> FakeKeyRequest.Answer {
        let request = KeptRequest(FakeKeyRequest(key, asset: asset), canKeep: canKeep)
        harness.loader.answer(request)
        defer { harness.loader.release(.only) }
        return await request.base.firstAnswer()
    }

    @Test func `a replay within the lease needs no license, no SPC and no credentials`() async {
        let harness = harness()
        let first = await play(harness).ckc
        harness.clock.advance(by: .seconds(3_500))
        let request = KeptRequest(FakeKeyRequest(Self.video, asset: "movie"))
        harness.loader.answer(request)
        #expect(await request.base.firstAnswer().ckc == first)
        #expect(first == FakePersistableRequest.storedForm(of: SampleBytes.ckc()))
        #expect(harness.posts.count == 1 && request.base.certificates.isEmpty)
        // The service sees a license for streaming.
        #expect(harness.credentials.reasons == [.first])
    }

    @Test(arguments: [
        (LicenseTerms?.none, Duration?.none, 3_600), (LicenseTerms(.persistent), nil, 3_600),
        (LicenseTerms(.persistentFor(.seconds(600))), nil, 600), (nil, .seconds(1_000), 1_000),
        (nil, .seconds(86_400), 3_600),
        (LicenseTerms(.dualExpiry(storage: .seconds(5_000), playback: .seconds(900))), nil, 900),
    ])
    func `after the lease, which vendor, license and app may shorten, a replay gets a new license`(
        _ terms: LicenseTerms?, _ lifetime: Duration?, _ lease: Int
    ) async {
        let harness = harness(terms) { $0.lifetime = lifetime }
        await play(harness)
        // A minute before its end a key would be renewed immediately.
        harness.clock.advance(by: .seconds(lease - 61))
        await play(harness)
        #expect(harness.posts.count == 1)
        harness.clock.advance(by: .seconds(1))
        await play(harness)
        #expect(harness.posts.count == 2)
    }

    @Test func `a replay is renewed before the rest of its lease ends`() async {
        let harness = harness()
        await play(harness)
        harness.clock.advance(by: .seconds(3_000))
        let events = harness.loader.events()
        await play(harness)
        let planned = await events.untilAnswered(2).compactMap {
            if case .renewalPlanned(_, let lease) = $0.kind { lease } else { nil }
        }
        #expect(planned.last == .seconds(600))
    }

    @Test func `a vendor that forbids it keeps nothing`() async {
        let harness = harness(allowed: nil)
        #expect(harness.loader.licenseCache == nil)
        #expect(Harness(TermedVendor(renewal: RenewalPolicy(cacheLifetime: 60))).loader.licenseCache == nil)
        let allowing = VendorProfile.all.filter { $0.renewal.cacheLifetime != nil }.map(\.identifier)
        #expect(allowing == ["mux", "mux-web"])
    }

    @Test func `another launch replays, and finds nothing after the viewer signs out`() async throws {
        await play(harness())
        let second = harness()
        await play(second)
        #expect(second.posts.isEmpty)
        try await second.loader.licenseCache?.removeAll()
        #expect(Set(store.contents.keys).isSubset(of: [.index]))
        let third = harness()
        await play(third)
        #expect(third.posts.count == 1)
    }

    @Test func `keys are kept up to the limit, and the title played longest ago is dropped first`() async {
        let harness = harness { $0.keys = 3 }
        for (key, title) in [(Self.audio, "old"), (Self.video, "old"), ("skd://keys.example.com/1", "next")] {
            await play(harness, key, of: AssetID(title))
            harness.clock.advance(by: .seconds(10))
        }
        await play(harness, Self.audio, of: "old")
        await play(harness, Self.video, of: "old")
        harness.clock.advance(by: .seconds(10))
        await play(harness, "skd://keys.example.com/2", of: "newest")
        #expect(store.contents.count == 4)
        let before = harness.posts.count
        await play(harness, Self.audio, of: "old")
        #expect(harness.posts.count == before)
        await play(harness, "skd://keys.example.com/1", of: "next")
        #expect(harness.posts.count == before + 1)
        // The whole title went for it: the index and two keys are left.
        #expect(store.contents.count == 3)
    }

    @Test func `a refusal removes only the keys of its title`() async {
        var vendor = VendorProfile.raw
        vendor.renewal.cacheLifetime = 3_600
        let harness = Harness(vendor.unchecked, post: [.ckc, .ckc, .status(403), .status(403), .ckc]) {
            $0.licenseCache = LicenseCachePolicy(store: store)
        }
        await play(harness, key, of: "movie")
        await play(harness, KeyURI("\(key)2"), of: "other")
        #expect(await play(harness, KeyURI("\(key)3"), of: "movie").error != nil)
        let before = harness.posts.count
        await play(harness, KeyURI("\(key)2"), of: "other")
        #expect(harness.posts.count == before)
        await play(harness, key, of: "movie")
        #expect(harness.posts.count == before + 1)
    }

    @Test func `a key that the player rejected is not given again`() async {
        let harness = harness()
        await play(harness)
        harness.loader.licenseCache?.drop(Self.video)
        await play(harness)
        #expect(harness.posts.count == 2)
    }

    @Test func `if the player makes no stored key, later requests are streamed`() async {
        let harness = harness()
        #expect(await play(harness, canKeep: false).error?.kind == .persistableKeyFailed)
        #expect(harness.loader.licenseCache?.wants(Self.video, of: nil) == false)
    }

    @Test func `excluded titles are streamed, and a failed store costs a license but not the key`() async {
        let harness = harness { $0.includes = { _, asset in asset != "live" } }
        #expect(harness.loader.licenseCache?.wants(Self.video, of: "live") == false)
        #expect(harness.loader.licenseCache?.wants(Self.video, of: "movie") == true)
        store.failWrites(OfflineError(.keyStoreUnwritable, "The disk is full."))
        #expect(await play(harness).error == nil)
        store.failWrites(nil)
        store.failReads(OfflineError(.keyStoreUnreadable, "The disk is away."))
        #expect(await play(harness).error == nil)
        #expect(harness.posts.count == 2)
    }
}

/// A streaming request of a player that can make a stored key of its license.
private struct KeptRequest: PersistableKeyRequest {
    let base: FakeKeyRequest
    var canKeep = true

    init(_ base: FakeKeyRequest, canKeep: Bool = true) { (self.base, self.canKeep) = (base, canKeep) }

    var keyURI: KeyURI { base.keyURI }
    var purpose: KeyPurpose { .streaming }
    var asset: AssetID? { base.asset }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        try await base.makeSPC(certificate: certificate, contentIdentifier: contentIdentifier)
    }

    func persistableKey(from ckc: Data) throws -> Data {
        canKeep ? FakePersistableRequest.storedForm(of: ckc) : Data()
    }

    func answer(_ result: Result<Data, ContentKeyError>) { base.answer(result) }
}
