import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import StandInEngine
import Testing

@_spi(Adapters) @testable import Latchkey
@testable import LatchkeyAVFoundation

/// Keys of streaming licenses that are kept for replays, through a key session.
@Suite(.timeLimit(.minutes(5))) struct LicenseCacheSessionTests {
    private static let lease = 3_600
    private static let terms = LicenseTerms(.persistentFor(.seconds(lease)))

    /// A loader for a vendor whose keys may be kept for an hour.
    private func loader(_ stage: PlayerStage, _ store: MemoryKeyStore, allowed: Int? = lease) -> ContentKeyLoader {
        var profile = stage.configured(.vuDRM)
        profile.renewal.cacheLifetime = allowed
        let service = stage.service(for: .vuDRM)
        return ContentKeyLoader(
            profile.unchecked,
            credentials: Credentials { request in
                #expect(request.reason != .offline)
                return CredentialSet(["token": service.issue(nil)])
            },
            configuration: LoaderConfiguration(
                retry: RetryPolicy(maximumAttempts: 1, attemptTimeout: .seconds(300), deadline: .seconds(900)),
                hosts: HostPolicy(loopback: .http), leases: LeasePolicy(jitter: 0), certificateFetch: .withFirstKey,
                licenseCache: LicenseCachePolicy(store: store)),
            timekeeper: stage.time)
    }

    private func play(_ stage: PlayerStage, _ loader: ContentKeyLoader) async throws -> StandInPlayback.Result {
        try await AVApp(loader, playing: stage.playlist()).play()
    }

    @Test func `a replay within the lease needs no license, after it as many as the first play`() async throws {
        try await PlayerStage.with(terms: Self.terms) { stage in
            let service = stage.service(for: .vuDRM)
            let store = MemoryKeyStore()
            let loader = loader(stage, store)
            let first = try await play(stage, loader)
            #expect(first.isRight && service.licenses == first.keyURIs.count)
            stage.time.advance(by: .seconds(Self.lease / 2))
            let second = try await play(stage, loader)
            // The next launch: another loader on the same store.
            let third = try await play(stage, self.loader(stage, store))
            #expect(second.isRight && third.isRight)
            #expect(service.licenses == first.keyURIs.count)
            stage.time.advance(by: .seconds(Self.lease / 2))
            #expect(try await play(stage, loader).isRight)
            #expect(service.licenses == 2 * first.keyURIs.count)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `an idle session answers a replay, or the cache if there is none`() async throws {
        try await PlayerStage.with(terms: Self.terms) { stage in
            let service = stage.service(for: .vuDRM)
            let app = AVApp(loader(stage, MemoryKeyStore()), playing: stage.playlist())
            let count = try await app.play().keyURIs.count
            /// - Returns: how many keys the session asked for; `nil` if the stream did not play.
            func replay() async throws -> Int? {
                let asset = AVURLAsset(url: app.asset.url)
                app.keys.protect(asset)
                defer { app.keys.release(asset) }
                let before = stage.log.names.count { $0 == "didProvidePersistable" }
                guard try await AVApp.play(asset).isRight else { return nil }
                return stage.log.names.count { $0 == "didProvidePersistable" } - before
            }
            app.keys.release(app.asset)
            #expect(try await replay() == 0)
            // All sessions expire, as at the end of a screen.
            app.keys.release()
            #expect(try await replay() == count)
            #expect(try await replay() == 0)
            #expect(service.licenses == count)
            // Both end with the lease.
            stage.time.advance(by: .seconds(Self.lease))
            #expect(try await replay() == count)
            #expect(service.licenses == 2 * count)
            stage.time.advance(by: .seconds(2 * Self.lease))
            #expect(service.licenses == 2 * count)
            #expect(app.failures.all.isEmpty && stage.log.violations.isEmpty)
        }
    }

    @Test func `a vendor that forbids it has a license for each play`() async throws {
        try await PlayerStage.with(terms: Self.terms) { stage in
            let loader = loader(stage, MemoryKeyStore(), allowed: nil)
            let first = try await play(stage, loader)
            #expect(try await play(stage, loader).isRight)
            #expect(stage.service(for: .vuDRM).licenses == 2 * first.keyURIs.count)
            #expect(!stage.log.names.contains("didProvidePersistable"))
        }
    }

    @Test func `a system that stores no keys streams them without telling the app`() async throws {
        var behavior = StandInBehavior()
        behavior.persistence = .refused
        try await PlayerStage.with(behavior, terms: Self.terms) { stage in
            let store = MemoryKeyStore()
            let app = AVApp(loader(stage, store), playing: stage.playlist())
            let result = try await app.play()
            #expect(result.isRight && app.failures.all.isEmpty)
            #expect(!app.notices.all.contains { if case .streamedInstead = $0 { true } else { false } })
            #expect(store.contents.isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `an AirPlay receiver has its own licenses`() async throws {
        try await PlayerStage.with(StandInBehavior([.switchesToAirPlay]), terms: Self.terms) { stage in
            let loader = loader(stage, MemoryKeyStore())
            let first = try await play(stage, loader)
            let count = first.keyURIs.count
            #expect(first.isRight && stage.service(for: .vuDRM).licenses == 2 * count)
            // The device's keys come from the cache, the receiver's do not.
            #expect(try await play(stage, loader).isRight)
            #expect(stage.service(for: .vuDRM).licenses == 3 * count)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a kept key that the player rejects is fetched again`() async throws {
        try await PlayerStage.with(terms: Self.terms) { stage in
            let loader = loader(stage, MemoryKeyStore())
            let count = try await play(stage, loader).keyURIs.count
            for key in try await stage.keys(of: .transportStream) {
                loader.licenseCache?.updated(key, to: Secret("no key at all"))
            }
            let app = AVApp(loader, playing: stage.playlist())
            await #expect(throws: AVError.self) { try await app.play() }
            await app.notices.until { if case .succeeded = $0 { true } else { false } }
            #expect(try await play(stage, loader).isRight)
            #expect(stage.service(for: .vuDRM).licenses == 2 * count)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `licenses that cannot be stored are streamed after the first`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(.seconds(600)))) { stage in
            let loader = loader(stage, MemoryKeyStore())
            let app = AVApp(loader, playing: stage.playlist())
            _ = try? await app.play()
            await app.notices.until { if case .succeeded(_, .streaming) = $0 { true } else { false } }
            let result = try await play(stage, loader)
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a replay longer than the lease is renewed by a license`() async throws {
        try await PlayerStage.with(terms: Self.terms) { stage in
            let loader = loader(stage, MemoryKeyStore())
            let count = try await play(stage, loader).keyURIs.count
            stage.time.advance(by: .seconds(Self.lease - 400))
            let app = AVApp(loader, playing: stage.playlist())
            let keys = try await app.play().keyURIs
            await stage.log.untilCallback("didSucceed", times: 2 * count)
            #expect(stage.service(for: .vuDRM).licenses == count)
            stage.time.advance(by: .seconds(300))
            await stage.log.untilCallback("didSucceed", times: 3 * count)
            #expect(stage.service(for: .vuDRM).licenses == 2 * count)
            stage.time.advance(by: .seconds(200))
            #expect(app.session?.standIn.usableKeys == Set(keys.map(\.raw)))
            #expect(app.failures.all.isEmpty && stage.log.violations.isEmpty)
        }
    }
}
