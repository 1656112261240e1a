import Foundation
import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import StandInEngine
import Testing

/// Keys that are stored and renewed without media.
@Suite(.timeLimit(.minutes(5))) struct StoredKeysTests {
    // Kaltura's replies state how long a key may be stored.
    private static let profile = VendorProfile.kaltura

    /// Two titles with a key each, stored for a day.
    private func withLibrary(
        _ store: any PersistableKeyStore = MemoryKeyStore(),
        _ body: (PlayerStage, ContentKeyLoader, StoredKeys) async throws -> Void
    ) async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistentFor(.seconds(86_400)))) { stage in
            let loader = stage.loader(Self.profile, store: store)
            let storedKeys = StoredKeys(loader)
            for (index, key) in try await keys(stage).enumerated() {
                try await storedKeys.storeKeys([key], of: AssetID("movie-\(index)"))
            }
            try await body(stage, loader, storedKeys)
            #expect(stage.log.violations.isEmpty)
        }
    }

    private func keys(_ stage: PlayerStage) async throws -> [KeyURI] {
        try await stage.keys(of: .twoKeys, for: Self.profile).sorted { $0.raw < $1.raw }
    }

    @Test func `only keys that are due are renewed`() async throws {
        try await withLibrary { stage, loader, storedKeys in
            let early = try await storedKeys.renewKeys()
            #expect(early.isEmpty)
            stage.time.advance(by: .seconds(50_000))
            let renewals = try await storedKeys.renewKeys()
            let keys = try await keys(stage)
            #expect(renewals.map(\.key) == keys)
            #expect(renewals.map(\.assets) == [["movie-0"], ["movie-1"]])
            #expect(renewals.map(\.isRenewed) == [true, true])
            #expect(stage.service(for: Self.profile).licenses == 2 * keys.count)
            let due = try await loader.offline?.dueForRenewal()
            #expect(due?.isEmpty == true)
        }
    }

    @Test func `two calls for one title share their work`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let loader = stage.loader(store: MemoryKeyStore())
            let keys = try await stage.keys(of: .twoKeys)
            let service = stage.service(for: .vuDRM)
            service.hold()
            async let first: Void = StoredKeys(loader).storeKeys(keys, of: "movie")
            async let second: Void = StoredKeys(loader).storeKeys(keys, of: "movie")
            await service.untilLicenses(keys.count)
            service.open()
            _ = try await (first, second)
            #expect(service.licenses == keys.count)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a waiting call continues when the first one is cancelled`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let loader = stage.loader(store: MemoryKeyStore())
            let keys = try await stage.keys(of: .twoKeys)
            let service = stage.service(for: .vuDRM)
            service.hold()
            let first = Task { try await StoredKeys(loader).storeKeys(keys, of: "movie") }
            await service.untilLicenses(keys.count)
            let second = Task { try await StoredKeys(loader).storeKeys(keys, of: "movie") }
            first.cancel()
            let error = await #expect(throws: ContentKeyError.self) { try await first.value }
            #expect(error?.kind == .cancelled)
            service.open()
            try await second.value
            #expect(try await loader.offline?.asset("movie")?.isReady == true)
        }
    }

    @Test func `a title without rights does not block renewing others, and is named`() async throws {
        try await withLibrary { stage, loader, storedKeys in
            stage.time.advance(by: .seconds(50_000))
            stage.service(for: Self.profile).faults.set(.status(403), at: .license, for: .first(1))
            let renewals = try await storedKeys.renewKeys()
            #expect(renewals.count == 2)
            let refused = try #require(renewals.first { !$0.isRenewed })
            #expect(renewals.count { $0.isRenewed } == 1)
            #expect(refused.failure?.loaderError?.kind == .forbidden)
            let due = try await loader.offline?.dueForRenewal()
            #expect(due?.map(\.uri) == [refused.key])
            // The stored key stays.
            let title = try #require(refused.assets.first)
            let isReady = try await loader.offline?.asset(title)?.isReady
            #expect(isReady == true)
        }
    }

    @Test func `one title is renewed early, and no other`() async throws {
        try await withLibrary { stage, loader, storedKeys in
            stage.time.advance(by: .seconds(1_000))
            let renewals = try await storedKeys.renewKeys(of: "movie-1")
            let keys = try await keys(stage)
            #expect(renewals.map(\.key) == [keys[1]])
            #expect(renewals.map(\.isRenewed) == [true])
            let assets = try await loader.offline?.assets() ?? []
            #expect(assets.flatMap(\.keys).map { $0.renewed != nil } == [false, true])
            let none = try await storedKeys.renewKeys(of: "unknown")
            #expect(none.isEmpty)
        }
    }

    @Test func `a renewed key that is not written counts as unrenewed`() async throws {
        let store = FullKeyStore()
        try await withLibrary(store) { stage, _, storedKeys in
            stage.time.advance(by: .seconds(50_000))
            store.fill()
            let renewals = try await storedKeys.renewKeys()
            #expect(renewals.map { $0.failure?.loaderError?.code } == ["downloadFailed", "downloadFailed"])
        }
    }

    @Test func `a vendor that renews no stored key is an error of the library and of each title's keys`()
        async throws
    {
        try await PlayerStage.with(terms: LicenseTerms(.persistentFor(.seconds(86_400)))) { stage in
            var profile = Self.profile
            profile.renewal.renewsStoredKeys = false
            let loader = stage.loader(profile, store: MemoryKeyStore())
            let storedKeys = StoredKeys(loader)
            try await storedKeys.storeKeys(Set(try await keys(stage)), of: "movie")
            stage.time.advance(by: .seconds(50_000))
            let error = await #expect(throws: ContentKeyError.self) { try await storedKeys.renewKeys() }
            #expect(error?.code == "storedKeyRenewalUnsupported")
            let renewals = try await storedKeys.renewKeys(of: "movie")
            #expect(renewals.map { $0.failure?.loaderError?.code } == Array(repeating: error?.code, count: 2))
        }
    }

    @Test func `the lack of a store to renew is reported`() async throws {
        try await PlayerStage.with { stage in
            let storedKeys = StoredKeys(stage.loader())
            let error = await #expect(throws: ContentKeyError.self) { try await storedKeys.renewKeys() }
            #expect(error?.code == "keyStoreMissing")
        }
    }

    @Test func `a license that forbids storage makes no title ready`() async throws {
        try await PlayerStage.with { stage in
            let loader = stage.loader(store: MemoryKeyStore())
            let error = await #expect(throws: ContentKeyError.self) {
                try await StoredKeys(loader).storeKeys(try await stage.keys(of: .transportStream), of: "movie")
            }
            #expect(error?.code == "persistableKeyFailed")
            let asset = try await loader.offline?.asset("movie")
            #expect(asset?.isReady == false)
        }
    }
}

/// A store that can be filled up: its index is changed in place, and no key fits any more.
private final class FullKeyStore: PersistableKeyStore {
    private let base = MemoryKeyStore()
    private let isFull = Locked(false)

    func fill() { isFull.withLock { $0 = true } }

    func items() throws -> Set<StoredItem> { try base.items() }
    func bytes(of item: StoredItem) throws -> Secret? { try base.bytes(of: item) }
    func remove(_ item: StoredItem) throws { try base.remove(item) }

    func write(_ bytes: Secret, to item: StoredItem) throws {
        if isFull.withLock({ $0 }), item != .index { throw CocoaError(.fileWriteOutOfSpace) }
        try base.write(bytes, to: item)
    }
}
