import AVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

@testable import LatchkeyAVFoundation

/// Renewals, retries, and all ways in which a request and a session end.
@Suite(.timeLimit(.minutes(5))) struct SessionLifeTests {
    private static let lease = Duration.seconds(600)

    // MARK: Renewal

    @Test func `a lease is renewed before its end, and the player continues`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(Self.lease))) { stage in
            let app = AVApp(stage.loader(lease: Self.lease), playing: stage.playlist())
            let result = try await app.play()
            stage.time.advance(by: .seconds(450))
            await stage.log.untilCallback("didProvideRenewing")
            await stage.log.untilCallback("didSucceed", times: 2)
            stage.time.advance(by: .seconds(590))
            await stage.log.untilCallback("didSucceed", times: 3)
            #expect(app.session?.standIn.usableKeys == Set(result.keyURIs.map(\.raw)))
            #expect(stage.service(for: .vuDRM).licenses == 3)
            #expect(app.failures.all.isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a lease that cannot be renewed ends with one failure`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(Self.lease))) { stage in
            let app = AVApp(stage.loader(lease: Self.lease), playing: stage.playlist())
            _ = try await app.play()
            stage.service(for: .vuDRM).faults.set(.status(403), at: .license)
            stage.time.advance(by: .seconds(450))
            await stage.log.untilCallback("didFail")
            stage.time.advance(by: .seconds(150))
            await app.failures.until("leaseEnded")
            #expect(app.failures.all.count { $0.loaderError?.kind == .leaseEnded } == 1)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a released asset's keys are not renewed`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(Self.lease))) { stage in
            let loader = stage.loader(lease: Self.lease)
            let app = AVApp(loader, playing: stage.playlist())
            let other = AVURLAsset(url: stage.playlist(.twoKeys))
            app.keys.protect(other)
            let kept = try await AVApp.play(other)
            _ = try await app.play()
            app.keys.release(app.asset)
            stage.time.advance(by: .seconds(450))
            await stage.log.untilCallback("didProvideRenewing", times: kept.keyURIs.count)
            #expect(Set(stage.log.renewed) == Set(kept.keyURIs.map(\.raw)))
            app.keys.release(other)
            #expect(app.session?.contentKeyRecipients.isEmpty == true)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [VendorProfile.vuDRM, .nagra])
    func `a preloaded license is played even if its vendor has a session for it`(_ profile: VendorProfile) async throws
    {
        try await PlayerStage.with(terms: LicenseTerms(.lease(Self.lease))) { stage in
            let loader = stage.loader(profile, lease: Self.lease)
            let keys = AVPlayerKeys(loader, onFailure: unexpected)
            let asset = AVURLAsset(url: stage.playlist(for: profile))
            _ = await loader.preload(asset.url, into: keys, as: "movie-1")
            keys.protect(asset, as: "movie-1")
            let result = try await AVApp.play(asset)
            #expect(result.isRight)
            #expect(stage.service(for: profile).licenses == 1)
        }
    }

    @Test func `a preload after the last one's lease gets another license`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(Self.lease))) { stage in
            let loader = stage.loader(lease: Self.lease)
            let keys = AVPlayerKeys(loader, onFailure: unexpected)
            let asset = AVURLAsset(url: stage.playlist())
            for licenses in 1...2 {
                _ = await loader.preload(asset.url, into: keys, as: "movie-1")
                _ = await loader.preload(asset.url, into: keys, as: "movie-1")
                #expect(stage.service(for: .vuDRM).licenses == licenses)
                stage.time.advance(by: .seconds(700))
            }
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a renewal that the player ignores is requested again`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(Self.lease))) { stage in
            let options = AVPlayerKeys.Options(retries: 1)
            let app = AVApp(stage.loader(lease: Self.lease), playing: stage.playlist(), options: options)
            _ = try await app.play()
            // One retry is granted; the next turndown fails the renewal, and the adapter makes the player begin another.
            stage.stage.behavior.retries = [.obsolete, .obsolete]
            stage.time.advance(by: .seconds(450))
            await stage.log.untilCallback("didSucceed", times: 2)
            #expect(app.failures.all.count == 1)
            #expect(app.session?.standIn.usableKeys.count == 1)
            #expect(stage.log.violations.isEmpty)
        }
    }

    // MARK: The session's end

    @Test(arguments: ["released", "deallocated", "replaced"])
    func `the app can end a session so that stream-counting services get no abnormal report`(
        how: String
    ) async throws {
        try await PlayerStage.with { stage in
            let folder = try TemporaryFolder()
            let reports = URL(filePath: folder.path("reports"))
            let loader = stage.loader()
            var keys: AVPlayerKeys? = AVPlayerKeys(loader, options: AVPlayerKeys.Options(reports: reports)) { _ in }
            let queue = try #require(keys?.queue)
            keys?.preload(stage.key())
            await stage.log.untilCallback("didSucceed")
            switch how {
            case "released": keys?.release()
            case "deallocated": keys = nil
            default: keys?.replaceSession()
            }
            await withCheckedContinuation { done in
                queue.async { queue.async { queue.async { done.resume() } } }
            }
            let found = AVContentKeySession.pendingExpiredSessionReports(
                withAppIdentifier: try await loader.applicationCertificate().bytes, storageDirectoryAt: reports)
            #expect(found.map { String(decoding: $0.prefix(15), as: UTF8.self) } == ["expired session"])
            withExtendedLifetime(keys) {}
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `one thread may protect assets and request keys while another releases everything`() async throws {
        try await PlayerStage.with { stage in
            let keys = AVPlayerKeys(stage.loader()) { _ in }
            await withTaskGroup { group in
                for number in 0..<200 {
                    group.addTask { keys.protect(AVURLAsset(url: stage.playlist())) }
                    group.addTask { keys.preload(KeyURI("skd://nowhere.example.com/\(number)")) }
                    group.addTask { keys.release() }
                }
            }
            #expect(stage.log.violations.isEmpty, "\(stage.log.violations.first.debugDescription)")
        }
    }

    // MARK: Retry

    @Test(arguments: RetryCause.allCases)
    func `a license that the player rejected is fetched again`(_ cause: RetryCause) async throws {
        var behavior = StandInBehavior()
        behavior.retries = [cause, cause]
        try await PlayerStage.with(behavior) { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist())
            let result = try await app.play()
            #expect(result.isRight)
            await stage.log.untilCallback("shouldRetry", times: 2)
            #expect(stage.log.contents.count(of: "shouldRetry") == 2)
            #expect(stage.service(for: .vuDRM).licenses == result.keyURIs.count + 2)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a repeatedly rejected license fails with the player's error number`() async throws {
        var behavior = StandInBehavior()
        behavior.retries = Array(repeating: .timedOut, count: 10)
        try await PlayerStage.with(behavior) { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist(), options: AVPlayerKeys.Options(retries: 2))
            await #expect(throws: AVError.self) { try await app.play() }
            await stage.log.untilCallback("shouldRetry", times: 3)
            #expect(stage.log.contents.count(of: "shouldRetry") == 3)
            #expect(app.failures.all.first?.explanation?.code == -42669)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `consecutive stale SPCs mark the session as stuck`() async throws {
        var behavior = StandInBehavior()
        behavior.retries = Array(repeating: .timedOut, count: 3)
        try await PlayerStage.with(behavior) { stage in
            let options = AVPlayerKeys.Options(retries: 0, stuckAfter: 3)
            let app = AVApp(stage.loader(), playing: stage.playlist(), options: options)
            for index in 0..<3 { app.preload(stage.key(index)) }
            await app.notices.until { if case .stuck = $0 { true } else { false } }
            #expect(stage.log.violations.isEmpty)
        }
    }

    // MARK: The end of a request

    @Test func `a request that the player drops stops the exchange and gets no answer`() async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let app = AVApp(stage.loader(), playing: stage.playlist())
            app.preload(stage.key())
            await service.untilLicenses(1)
            let session = try #require(app.session)
            for request in session.standIn.openRequests { session.standIn.cancel(request) }
            await stage.log.untilCallback("didFail")
            service.open()
            #expect(app.failures.all.isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a silent service costs the deadline and is then an error`() async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let app = AVApp(stage.loader(deadline: .seconds(30)), playing: stage.playlist())
            app.preload(stage.key())
            await service.untilLicenses(1)
            await stage.time.untilSomeoneSleeps(for: .seconds(30))
            stage.time.advance(by: .seconds(30))
            await stage.log.untilCallback("didFail")
            service.open()
            #expect(app.failures.all.first?.loaderError?.kind == .deadlineExceeded)
            #expect(app.failures.all.first?.error.code == 103)
            #expect(stage.log.violations.isEmpty)
        }
    }

    enum End: CaseIterable { case release, releaseAsset, deallocation, replaceSession, cancelLoader }

    @Test(arguments: End.allCases)
    func `open requests are answered once when everything ends`(_ end: End) async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let loader = stage.loader()
            var app: AVApp? = AVApp(loader, playing: stage.playlist())
            for index in 0..<3 { app?.preload(stage.key(index)) }
            await service.untilLicenses(3)
            let requests = app?.session?.standIn.openRequests ?? []
            switch end {
            case .release: app?.keys.release()
            case .releaseAsset: if let app { app.keys.release(app.asset) }
            case .cancelLoader: loader.cancel()
            case .replaceSession: app?.keys.replaceSession()
            case .deallocation: app = nil
            }
            // There is no callback after the delegate is released.
            while !requests.allSatisfy({ $0.status == .failed }) { await Task.yield() }
            service.open()
            #expect(requests.count == 3)
            #expect(requests.allSatisfy { ($0.error as? NSError)?.domain == "Latchkey.ContentKeyError" })
            #expect(stage.log.violations.isEmpty)
            withExtendedLifetime(app) {}
        }
    }

    @Test func `a replaced session passes its keys to a new asset`() async throws {
        try await PlayerStage.with(StandInBehavior([.resetsMediaServices])) { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist())
            let error = await #expect(throws: AVError.self) { try await app.play() }
            #expect(error?.code == .mediaServicesWereReset)
            let old = app.session
            app.keys.replaceSession()
            #expect(app.session !== old)
            let asset = AVURLAsset(url: stage.playlist())
            app.keys.protect(asset)
            let result = try await AVApp.play(asset)
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `one key's error leaves the other keys alone`() async throws {
        try await PlayerStage.with { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist(.twoKeys))
            app.keys.preload("skd://nobody/knows")
            await stage.log.untilCallback("didFail")
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }
}

extension StandInLog {
    /// The keys whose renewals AVFoundation handed over.
    fileprivate var renewed: [String] { callbacks.filter { $0.name == "didProvideRenewing" }.compactMap(\.subject) }
}
