import AVFoundation
@_spi(Adapters) import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import Testing

/// Keys that are stored through a session, and play without a network.
@Suite(.timeLimit(.minutes(5))) struct OfflineSessionTests {
    private static let persistent = LicenseTerms(.persistent)
    private static let dual = LicenseTerms(.dualExpiry(storage: .seconds(86_400), playback: .seconds(3_600)))

    /// Plays a title whose keys are to be stored, with a separate session.
    private func play(_ stage: PlayerStage, _ loader: ContentKeyLoader) async throws -> StandInPlayback.Result {
        try await AVApp(loader, playing: stage.playlist()).play()
    }

    /// A loader that stores the key of the transport stream.
    private func storingLoader(_ stage: PlayerStage, _ store: MemoryKeyStore) async throws -> ContentKeyLoader {
        let loader = stage.loader(store: store)
        try await loader.offline?.register("movie", keys: try await stage.keys(of: .transportStream))
        return loader
    }

    @Test func `a stored key is fetched once, then needs no network`() async throws {
        try await PlayerStage.with(terms: Self.persistent) { stage in
            let store = MemoryKeyStore()
            let loader = try await storingLoader(stage, store)
            let first = try await play(stage, loader)
            let fetched = stage.service(for: .vuDRM).licenses
            #expect(fetched == first.keyURIs.count)
            #expect(try await loader.offline?.asset("movie")?.isReady == true)

            // The next launch: another loader on the same store, and services that refuse everything.
            stage.service(for: .vuDRM).faults.set(.status(500), at: .license)
            let second = try await play(stage, stage.loader(store: store))
            #expect(first.isRight && second.isRight)
            #expect(stage.service(for: .vuDRM).licenses == fetched)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `the first play starts the playback window, and the changed key plays on`() async throws {
        try await PlayerStage.with(terms: Self.dual) { stage in
            let store = MemoryKeyStore()
            let loader = try await storingLoader(stage, store)
            let keys = try await stage.keys(of: .transportStream)
            let app = AVApp(loader, playing: stage.playlist())
            _ = try await app.play()
            await stage.log.untilCallback("didUpdatePersistable", times: keys.count)
            // A released session calls no delegate.
            withExtendedLifetime(app) {}
            let again = try await play(stage, loader)
            #expect(again.isRight)
            #expect(stage.service(for: .vuDRM).licenses == keys.count)
            let asset = try #require(try await loader.offline?.asset("movie"))
            #expect(asset.state == .playing)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a stored key that the player rejects is dropped and fetched once`() async throws {
        try await PlayerStage.with(terms: Self.persistent) { stage in
            let store = MemoryKeyStore()
            let loader = try await storingLoader(stage, store)
            let key = try #require(try await stage.keys(of: .transportStream).first)
            let offline = try #require(loader.offline)
            offline.updated(key, to: Secret("no key at all"))
            let app = AVApp(loader, playing: stage.playlist())
            let error = await #expect(throws: AVError.self) { try await app.play() }
            #expect(error.map { FairPlayErrorExplanation.explaining($0)?.code } == -42803)
            await app.notices.until { if case .succeeded(_, .persistable) = $0 { true } else { false } }
            #expect(stage.service(for: .vuDRM).licenses == 1)
            let result = try await play(stage, loader)
            #expect(result.isRight)
            #expect(stage.service(for: .vuDRM).licenses == 1)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `keys the system cannot store are streamed, and the app learns it`() async throws {
        var behavior = StandInBehavior()
        behavior.persistence = .refused
        try await PlayerStage.with(behavior, terms: Self.persistent) { stage in
            let loader = try await storingLoader(stage, MemoryKeyStore())
            let app = AVApp(loader, playing: stage.playlist())
            let result = try await app.play()
            #expect(result.isRight)
            #expect(app.notices.all.contains { if case .streamedInstead = $0 { true } else { false } })
            #expect(stage.log.names.contains("didProvidePersistable") == false)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a receiver's keys are streamed while the device's are stored`() async throws {
        try await PlayerStage.with(StandInBehavior([.switchesToAirPlay]), terms: Self.persistent) { stage in
            let loader = try await storingLoader(stage, MemoryKeyStore())
            let app = AVApp(loader, playing: stage.playlist())
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.service(for: .vuDRM).licenses == 2 * result.keyURIs.count)
            #expect(try await loader.offline?.asset("movie")?.isReady == true)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `keys not requested for storage are streamed`() async throws {
        try await PlayerStage.with(terms: Self.persistent) { stage in
            let loader = stage.loader(store: MemoryKeyStore())
            let result = try await play(stage, loader)
            #expect(result.isRight)
            #expect(!stage.log.names.contains("didProvidePersistable"))
        }
    }

    // MARK: What services want to know

    @Test func `the service gets a token for a stored key's date, and none for a key not stored`() async throws {
        try await PlayerStage.with(terms: Self.persistent) { stage in
            let loader = try await storingLoader(stage, MemoryKeyStore())
            let app = AVApp(loader, playing: stage.playlist())
            let key = try #require(try await app.play().keyURIs.first)
            let token = try await app.keys.expirationToken(for: key)
            #expect(String(decoding: token, as: UTF8.self).hasPrefix("secure token"))
            let error = await #expect(throws: ContentKeyError.self) {
                try await app.keys.expirationToken(for: "skd://nobody/knows")
            }
            #expect(error?.code == "persistableKeyFailed")
        }
    }

    @Test func `the service gets a proof of one removed key or of all`() async throws {
        try await PlayerStage.with(terms: Self.persistent) { stage in
            let loader = try await storingLoader(stage, MemoryKeyStore())
            let app = AVApp(loader, playing: stage.playlist())
            _ = try await app.play()
            let removed = try #require(try await loader.offline?.delete("movie"))
            let key = try #require(removed.first)
            let proof = try await app.keys.proofOfRemoval(of: key, challenge: Data(count: 8))
            #expect(String(decoding: proof, as: UTF8.self).hasPrefix("invalidated"))
            let all = try await app.keys.proofOfRemovalOfAllKeys()
            #expect(String(decoding: all, as: UTF8.self) == "all invalidated")
        }
    }

    @Test func `a revoked key no longer decrypts, and is revoked only once`() async throws {
        try await PlayerStage.with { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist())
            let key = try #require(try await app.play().keyURIs.first)
            #expect(app.session?.standIn.usableKeys == [key.raw])
            #expect(app.keys.revoke(key))
            #expect(app.session?.standIn.usableKeys == [])
            #expect(!app.keys.revoke(key))
        }
    }

    @Test func `a location is found after the system moved the app`() throws {
        let old = OfflineLocation(URL(fileURLWithPath: "/var/A/Library/movie.movpkg"), home: "/var/A")
        #expect(old.path == "Library/movie.movpkg")
        #expect(old.url(home: "/var/B").path == "/var/B/Library/movie.movpkg")
        #expect(
            OfflineLocation(URL(fileURLWithPath: "/other/movie"), home: "/var/A").url(home: "/x").path == "/other/movie"
        )
    }
}
