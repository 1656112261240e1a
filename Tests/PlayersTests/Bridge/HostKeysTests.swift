import AVFoundation
import LatchkeyBridge
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// The face for Objective-C, through its Swift form.
@Suite(.timeLimit(.minutes(5))) struct HostKeysTests {
    private static let lease = Duration.seconds(600)

    @Test func `a stream plays with credentials that arrive later, and its key is renewed past two leases`()
        async throws
    {
        try await PlayerStage.with(terms: LicenseTerms(.lease(Self.lease))) { stage in
            let log = HostLog()
            let keys = stage.hostKeys(log, lease: Self.lease) { answer in
                DispatchQueue.global().async { answer(stage.token(), nil) }
            }
            let asset = AVURLAsset(url: stage.playlist())
            keys.protectAsset(asset, title: "movie-1")
            let result = try await AVApp.play(asset)
            #expect(result.isRight)
            await log.until("notice", "succeeded")
            for renewal in 2...4 {
                stage.time.advance(by: .seconds(450))
                await log.until("notice", "succeeded", times: renewal)
            }
            #expect(log.failures.isEmpty)
            #expect(log.outcomes.last?.keyURI == stage.key().raw)
            #expect(log.outcomes.last?.detail == "renewal")
            let first = try #require(log.requests.first { $0.stage == "license" })
            #expect((first.reason, first.purpose, first.title) == ("first", "streaming", "movie-1"))
            #expect(first.json.contains(#""title":"movie-1""#))
            #expect(log.requests.last?.reason == "renewal")
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a suspended host renews nothing; a resumed one does promptly`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(Self.lease))) { stage in
            let log = HostLog()
            let keys = stage.hostKeys(log, lease: Self.lease) { $0(stage.token(), nil) }
            let asset = AVURLAsset(url: stage.playlist())
            keys.protectAsset(asset, title: nil)
            _ = try await AVApp.play(asset)
            await log.until("notice", "succeeded")
            keys.suspend()
            stage.time.advance(by: .seconds(500))
            #expect(stage.service(for: .vuDRM).licenses == 1)
            keys.resume()
            await log.until("notice", "succeeded", times: 2)
            #expect(stage.service(for: .vuDRM).licenses == 2)
        }
    }

    @Test func `a failure has a domain, a number, a remedy and words for the viewer`() async throws {
        try await PlayerStage.with { stage in
            let log = HostLog()
            let keys = stage.hostKeys(log) { $0(nil, NSError(domain: "app", code: 7)) }
            let asset = AVURLAsset(url: stage.playlist())
            keys.protectAsset(asset, title: "movie-1")
            _ = try? await AVApp.play(asset)
            await log.until("failure", "credentialsFailed")
            let failure = try #require(log.failures.first)
            #expect(failure.error?.isComplete == true)
            #expect((failure.title, failure.keyURI) == ("movie-1", stage.key().raw))
            #expect(failure.viewerKey == "latchkey.viewer.signIn")
            #expect(failure.viewerText?.isEmpty == false)
            let members = try #require(
                JSONSerialization.jsonObject(with: Data(failure.json.utf8)) as? [String: Any])
            #expect(
                Set(members.keys) == [
                    "kind", "code", "title", "key", "domain", "number", "message", "remedy", "mayRetry", "viewerKey",
                    "viewerText",
                ])
            #expect(members["number"] as? Int == failure.error?.code)
        }
    }

    @Test func `a dropped answer fails the key; a second answer changes nothing`() async throws {
        try await PlayerStage.with { stage in
            let log = HostLog()
            let keys = stage.hostKeys(log) { answer in
                if log.requests.count > 1 {
                    answer(stage.token(), nil)
                    answer(nil, nil)
                }
            }
            let asset = AVURLAsset(url: stage.playlist())
            keys.protectAsset(asset, title: nil)
            _ = try? await AVApp.play(asset)
            await log.until("failure", "credentialsFailed")
            let next = AVURLAsset(url: stage.playlist())
            keys.protectAsset(next, title: nil)
            let result = try await AVApp.play(next)
            #expect(result.isRight)
        }
    }

    @Test func `released keys end, and closed ones answer nothing`() async throws {
        try await PlayerStage.with { stage in
            let log = HostLog()
            let keys = stage.hostKeys(log) { $0(stage.token(), nil) }
            keys.reportEvents()
            let asset = AVURLAsset(url: stage.playlist())
            keys.protectAsset(asset, title: "movie-1")
            _ = try await AVApp.play(asset)
            keys.releaseAll()
            await log.until("event", "released")
            let event = try #require(log.outcomes.first { $0.code == "requested" })
            #expect(event.json.contains(#""kind":"event""#) && event.json.contains(#""purpose":"streaming""#))
            keys.close()
            let next = AVURLAsset(url: stage.playlist())
            keys.protectAsset(next, title: nil)
            await #expect(throws: NSError.self) { try await AVApp.play(next) }
            #expect(stage.service(for: .vuDRM).licenses == 1)
        }
    }

    @Test(arguments: [("nobody", "unknownIntegration"), ("drmtoday-customdata", "missingSetting")])
    func `an unusable profile is refused with a number and a remedy`(_ profile: String, _ code: String) {
        let error = #expect(throws: NSError.self) {
            try HostKeys(profile: profile, settings: [:], allowedHosts: [], queue: nil, credentials: nil) { _ in }
        }
        #expect(error?.isComplete == true)
        #expect(error?.userInfo["LatchkeyCode"] as? String == code)
        #expect(HostKeys.profiles.contains("vudrm"))
    }
}
