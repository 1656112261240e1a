import AVFoundation
@_spi(Adapters) import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import StandInEngine
import Testing

/// Every callback that AVFoundation makes, driven one by one. Each has to run the adapter's own method, because a device never calls
/// a misspelled one.
@Suite(.timeLimit(.minutes(5))) struct SessionCallbackTests {
    private let name = "skd://demo/video"

    @Test func `no session callback is left to a default`() {
        let driven: Set<Callback> = [
            .didProvide, .didProvideRenewing, .didProvidePersistable, .didProvideBatch, .didUpdatePersistable,
            .didFail, .shouldRetry, .didSucceed, .sessionIdentifierDidChange, .didGenerateExpiredSessionReport,
            .externalProtectionStatusDidChange,
        ]
        #expect(driven == Set(Callback.allCases))
    }

    /// Drives a callback and returns the log's lines about it.
    private func driven(
        _ callback: Callback, _ behavior: StandInBehavior = StandInBehavior(), store: (any PersistableKeyStore)? = nil,
        options: AVPlayerKeys.Options = AVPlayerKeys.Options(),
        _ drive: (PlayerStage, AVApp, AVContentKeySession.StandIn) async throws -> Void
    ) async throws -> (AVApp, [StandInCallback.Implementation]) {
        try await PlayerStage.with(behavior) { stage in
            let app = AVApp(stage.loader(store: store), playing: stage.playlist(), options: options)
            let session = try #require(app.session)
            try await drive(stage, app, session.standIn)
            await stage.log.untilCallback(callback.rawValue)
            #expect(stage.log.violations.isEmpty)
            return (app, stage.log.callbacks.filter { $0.name == callback.rawValue }.map(\.implementation))
        }
    }

    @Test func `the asset requests a key`() async throws {
        let (_, taken) = try await driven(.didProvide) { stage, app, _ in
            app.preload(stage.key())
            await stage.log.untilCallback("didSucceed")
        }
        #expect(taken == [.own])
    }

    @Test func `the system requests a renewal`() async throws {
        let (app, taken) = try await driven(.didProvideRenewing) { stage, app, session in
            app.preload(stage.key())
            await stage.log.untilCallback("didSucceed")
            session.renew(stage.key().raw)
            await stage.log.untilCallback("didSucceed", times: 2)
            #expect(stage.service(for: .vuDRM).licenses == 2)
        }
        #expect(taken == [.own])
        let renewals = app.notices.all.count { if case .succeeded(_, .renewal) = $0 { true } else { false } }
        #expect(renewals == 1)
    }

    @Test func `a key to store`() async throws {
        let store = MemoryKeyStore()
        let (_, taken) = try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let loader = stage.loader(store: store)
            try await loader.offline?.register("movie", keys: [stage.key()])
            let app = AVApp(loader, playing: stage.playlist())
            app.preload(stage.key())
            await stage.log.untilCallback("didSucceed")
            #expect(stage.log.violations.isEmpty)
            return (app, stage.log.callbacks.filter { $0.name == "didProvidePersistable" }.map(\.implementation))
        }
        #expect(taken == [.own])
    }

    @Test func `several keys of one initialization data blob, each answered`() async throws {
        let (app, taken) = try await driven(.didProvideBatch) { stage, _, session in
            session.request((0..<3).map { stage.key($0).raw }, initializationData: Data("blob".utf8))
            await stage.log.untilCallback("didSucceed", times: 3)
        }
        #expect(taken == [.own])
        #expect(app.notices.all.count == 3)
    }

    @Test func `several keys of one blob to be stored, each stored`() async throws {
        let store = MemoryKeyStore()
        try await PlayerStage.with(terms: LicenseTerms(.persistent)) { stage in
            let loader = stage.loader(store: store)
            let keys = (0..<2).map { stage.key($0) }
            let offline = try #require(loader.offline)
            try await offline.register("movie", keys: Set(keys))
            let app = AVApp(loader, playing: stage.playlist())
            app.session?.standIn.request(
                keys.map(\.raw), initializationData: Data("blob".utf8), for: .persistable)
            await stage.log.untilCallback("didSucceed", times: 2)
            #expect(stage.log.contents.count(of: "didProvideBatch") == 1)
            for key in keys { #expect(try await offline.storedKey(for: key) != nil) }
            let stored = app.notices.all.count { if case .succeeded(_, .persistable) = $0 { true } else { false } }
            #expect(stored == 2 && app.notices.all.count == 2)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `the player changed a stored key`() async throws {
        let store = MemoryKeyStore()
        try await PlayerStage.with { stage in
            let loader = stage.loader(store: store)
            let offline = try #require(loader.offline)
            try await offline.register("movie", keys: [stage.key()])
            let app = AVApp(loader, playing: stage.playlist())
            app.session?.standIn.updatePersistableKey(Data("changed".utf8), identifier: stage.key().raw)
            await stage.log.untilCallback("didUpdatePersistable")
            #expect(stage.log.callbacks.map(\.implementation) == [.own])
            #expect(try await offline.storedKey(for: stage.key())?.revealed == Data("changed".utf8))
        }
    }

    @Test func `a failed request`() async throws {
        let (app, taken) = try await driven(.didFail) { stage, app, _ in
            app.keys.preload("skd://nobody/knows")
        }
        #expect(taken == [.own])
        #expect(app.failures.all.count == 1)
        #expect(app.failures.all.first?.loaderError != nil)
    }

    @Test func `the player offers a retry`() async throws {
        var behavior = StandInBehavior()
        behavior.retries = [.timedOut]
        let (_, taken) = try await driven(.shouldRetry, behavior) { stage, app, _ in
            app.preload(stage.key())
            await stage.log.untilCallback("didSucceed")
        }
        #expect(taken == [.own])
    }

    @Test func `the player took a key`() async throws {
        let (app, taken) = try await driven(.didSucceed) { stage, app, _ in app.preload(stage.key()) }
        #expect(taken == [.own])
        #expect(app.notices.all.count { if case .succeeded(_, .streaming) = $0 { true } else { false } } == 1)
    }

    @Test func `another identifier of the protection session`() async throws {
        let (app, taken) = try await driven(.sessionIdentifierDidChange) { _, _, session in
            session.changeProtectionSession(to: Data("session".utf8))
        }
        #expect(taken == [.own])
        let identifiers = app.notices.all.compactMap {
            if case .sessionIdentifierChanged(let identifier) = $0 { identifier } else { nil }
        }
        #expect(identifiers == [Data("session".utf8)])
    }

    @Test func `a report of an expired session that the app can read and remove`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "reports-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let options = AVPlayerKeys.Options(reports: folder)
        let (_, taken) = try await driven(.didGenerateExpiredSessionReport, options: options) { stage, app, session in
            app.preload(stage.key())
            await stage.log.untilCallback("didSucceed")
            session.generateExpiredSessionReport()
            await app.notices.until { if case .reportsPending = $0 { true } else { false } }
            let reports = try await app.keys.expiredSessionReports()
            #expect(reports.count == 1)
            try await app.keys.removeExpiredSessionReports(reports)
            #expect(try await app.keys.expiredSessionReports().isEmpty)
        }
        #expect(taken == [.own])
    }

    @Test func `displays that protect the picture, or not`() async throws {
        let (app, taken) = try await driven(.externalProtectionStatusDidChange) { stage, app, session in
            app.preload(stage.key())
            await stage.log.untilCallback("didSucceed")
            session.changeProtection(.insufficient)
        }
        #expect(taken == [.own])
        let last = app.notices.all.last
        guard case .protectionChanged(let key, .insufficient)? = last else {
            Issue.record("The last notice is \(String(describing: last)).")
            return
        }
        #expect(key.scheme == "skd")
    }
}
