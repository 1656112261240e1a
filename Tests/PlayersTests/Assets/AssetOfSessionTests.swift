import AVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

@testable import LatchkeyAVFoundation

/// One loader and one key session for a queue, a preload, an interstitial and a library of downloads, with a token per title.
@Suite(.timeLimit(.minutes(2))) struct AssetOfSessionTests {
    private let asked = AskedCredentials()

    @Test func `each title of a queue gets its own token`() async throws {
        try await PlayerStage.with { stage in
            let app = AVApp(stage.loader(asking: asked.add), playing: stage.playlist(.transportStream))
            app.keys.protect(app.asset, as: "one")
            let next = AVURLAsset(url: stage.playlist(.twoKeys))
            app.keys.protect(next, as: "two")
            let one = try await app.play()
            let two = try await AVApp.play(next)
            #expect(one.isRight && two.isRight)
            // Each has its own session, also for the key that both need.
            #expect(asked.keys(of: "one") == Set(one.keyURIs))
            #expect(asked.keys(of: "two") == Set(two.keyURIs))
            #expect(asked.assets == ["one", "two"])
            #expect(asked.licenses.allSatisfy { $0.purpose == .streaming })
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a preload and its play have the same title, even for renewals`() async throws {
        let lease = Duration.seconds(600)
        try await PlayerStage.with(terms: LicenseTerms(.lease(lease))) { stage in
            let loader = stage.loader(lease: lease, asking: asked.add)
            let app = AVApp(loader, playing: stage.playlist())
            _ = await loader.preload(stage.playlist(), into: app.keys, as: "one")
            app.keys.protect(app.asset, as: "one")
            let result = try await app.play()
            let key = try #require(result.keyURIs.first)
            #expect(app.keys.asset(of: key) == "one")
            stage.time.advance(by: .seconds(450))
            await stage.service(for: .vuDRM).untilLicenses(result.keyURIs.count + 1)
            #expect(asked.assets == ["one"] && asked.licenses.last?.reason == .renewal)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a new session requests the same keys with their titles`() async throws {
        try await PlayerStage.with { stage in
            let app = AVApp(stage.loader(asking: asked.add), playing: stage.playlist())
            app.keys.protect(app.asset, as: "one")
            let count = try await app.play().keyURIs.count
            app.keys.replaceSession()
            await stage.service(for: .vuDRM).untilLicenses(2 * count)
            #expect(asked.licenses.count == 2 * count && asked.assets == ["one"])
        }
    }

    @Test func `each download's keys are requested with its title`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let loader = stage.loader(store: MemoryKeyStore(), asking: asked.add)
            let storedKeys = StoredKeys(loader)
            try await storedKeys.storeKeys([stage.key(0)], of: "one")
            // A title that shares a key asks for its other key alone.
            try await storedKeys.storeKeys([stage.key(0), stage.key(1)], of: "two")
            #expect(asked.keys(of: "one") == [stage.key(0)] && asked.keys(of: "two") == [stage.key(1)])
            #expect(asked.licenses.allSatisfy { $0.purpose == .persistable && $0.reason == .offline })
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a stored key is renewed with the title that needs it`() async throws {
        // Kaltura's replies state how long a key may be stored.
        try await PlayerStage.with(terms: LicenseTerms(.persistentFor(.seconds(86_400)))) { stage in
            let loader = stage.loader(.kaltura, store: MemoryKeyStore())
            let storedKeys = StoredKeys(loader)
            let events = loader.events()
            try await storedKeys.storeKeys([stage.key(0, for: .kaltura)], of: "one")
            try await storedKeys.storeKeys([stage.key(1, for: .kaltura)], of: "two")
            stage.time.advance(by: .seconds(50_000))
            _ = try await storedKeys.renewKeys()
            var stored: [KeyEvent] = []
            for await event in events {
                if case .keyStored = event.kind { stored.append(event) }
                if stored.count == 4 { break }
            }
            #expect(stored.prefix(2).map(\.asset) == ["one", "two"])
            #expect(Set(stored.suffix(2).map(\.asset)) == ["one", "two"])
            for event in stored {
                #expect(event.key == stage.key(event.asset == "one" ? 0 : 1, for: .kaltura))
            }
        }
    }

    @Test func `a stored title played without a name keeps its stored name`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let loader = stage.loader(store: MemoryKeyStore())
            try await loader.offline?.register("movie", keys: try await stage.keys(of: .transportStream))
            let events = loader.events()
            let result = try await AVApp(loader, playing: stage.playlist()).play()
            #expect(result.isRight)
            let answered = await events.first { if case .answered = $0.kind { true } else { false } }
            #expect(answered?.asset == "movie")
        }
    }

    @Test func `a key refused eight times costs one license request and one report that names the title`()
        async throws
    {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.status(404), at: .license)
            let loader = stage.loader(asking: asked.add)
            let app = AVApp(loader, playing: stage.playlist())
            let key = stage.key()
            var ends = loader.events().compactMap { if case .failed(let error, _) = $0.kind { error } else { nil } }
                .makeAsyncIterator()
            for number in 1...8 {
                while !app.keys.preload(key, as: "one") { await Task.yield() }
                #expect(await ends.next()?.isRepeated == (number > 1))
            }
            await app.failures.until(1)
            #expect(stage.service(for: .vuDRM).licenses == 1 && asked.licenses.count == 1)
            #expect(app.failures.codes == ["notFound"])
            #expect(app.failures.all.first?.asset == "one" && app.failures.all.first?.key == key)
            // The app itself asks to protect an asset anew.
            while app.keys.state.withLock({ $0.sessions.contains { $0.requests.isOpen(key) } }) { await Task.yield() }
            app.keys.protect(AVURLAsset(url: stage.playlist()), as: "one")
            #expect(app.keys.preload(key, as: "one"))
            #expect(await ends.next()?.isRepeated == false)
            #expect(stage.service(for: .vuDRM).licenses == 2)
        }
    }
}
