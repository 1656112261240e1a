import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import Testing

/// Tests of the stand-in for `AVAssetResourceLoader`.
@Suite(.timeLimit(.minutes(5))) struct ResourceLoaderTests {
    @Test(arguments: DemoAsset.allCases)
    func `a stream whose keys come through the loader plays right`(_ stream: DemoAsset) async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = LoaderApp(fixture, stream) { try LoaderApp.answer($0, fixture) }
            let result = try await app.play()
            #expect(result.isRight)
            await fixture.log.untilCallbacks(["shouldWaitForLoading"], times: result.keyURIs.count)
            #expect(fixture.log.contents.count(of: "shouldWaitForLoading") == result.keyURIs.count)
            #expect(fixture.log.violations.isEmpty)
        }
    }

    @Test func `a request that nobody handles fails the item`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = LoaderApp(fixture) { _ in throw CocoaError(.featureUnsupported) }
            let error = await #expect(throws: AVError.self) { try await app.play() }
            #expect(error?.code == .contentIsNotAuthorized)
        }
    }

    @Test func `a request that nobody retains counts as unanswered`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = LoaderApp(fixture) { _ in }
            await #expect(throws: AVError.self) { try await app.play() }
        }
        #expect(fixture.log.brokenRules == [.unanswered])
    }

    @Test func `a second end of a request is noticed`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = LoaderApp(fixture) { request in
                try LoaderApp.answer(request, fixture)
                request.finishLoading()
            }
            _ = try await app.play()
        }
        await fixture.log.untilViolation(.finishedTwice)
        #expect(fixture.log.brokenRules == [.finishedTwice])
    }

    @Test func `a content type that no key has is noticed`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let app = LoaderApp(fixture) { request in
                request.contentInformationRequest?.contentType = "application/octet-stream"
                try LoaderApp.answer(request, fixture)
            }
            _ = try await app.play()
        }
        #expect(fixture.log.brokenRules == [.wrongContentType])
    }

    @Test func `an app's error is the item's`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let app = LoaderApp(fixture) { $0.finishLoading(with: NSError(domain: "app", code: 7)) }
            let error = await #expect(throws: NSError.self) { try await app.play() }
            #expect(error?.domain == "app" && error?.code == 7)
        }
    }

    @Test func `a request is cancelled once its SPC is made`() async throws {
        let fixture = try StandInFixture(.cancelsMidway)
        await fixture.stage.run {
            let app = LoaderApp(fixture) { try LoaderApp.answer($0, fixture) }
            let error = await #expect(throws: AVError.self) { try await app.play() }
            #expect(error?.code == .operationCancelled)
            #expect(fixture.log.names == ["shouldWaitForLoading", "didCancelLoading"])
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `an open request that is cancelled may not be finished`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let kept = KeptRequest()
            let app = LoaderApp(fixture) { request in kept.request = request }
            let request = Task { try await app.asset.resourceLoader.standIn.request("skd://demo/video") }
            await fixture.log.untilCallback("shouldWaitForLoading")
            for request in app.asset.resourceLoader.standIn.openRequests {
                app.asset.resourceLoader.standIn.cancel(request)
            }
            await #expect(throws: AVError.self) { try await request.value }
            kept.request?.finishLoading()
        }
        await fixture.log.untilViolation(.finishedTwice)
        #expect(fixture.log.brokenRules == [.finishedTwice])
    }

    @Test func `a renewal date has the key asked for again`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(600))))
        try await fixture.stage.run {
            let app = LoaderApp(fixture) { request in
                request.contentInformationRequest?.contentType = AVStreamingKeyDeliveryContentKeyType
                request.contentInformationRequest?.renewalDate = fixture.time.date.addingTimeInterval(480)
                try LoaderApp.answer(request, fixture)
            }
            _ = try await app.play()
            await fixture.time.untilSomeoneSleeps(for: .seconds(480))
            fixture.time.advance(by: .seconds(480))
            await fixture.log.untilCallback("shouldWaitForRenewal")
            await fixture.time.untilSomeoneSleeps(for: .seconds(480))
            fixture.time.advance(by: .seconds(300))
            let result = try await app.playAgain()
            #expect(result.isRight)
            await fixture.log.untilCallback("shouldWaitForLoading", times: 1)
            #expect(fixture.log.contents.count(of: "shouldWaitForLoading") == 1)
        }
    }

    @Test func `a key that was stored through the loader plays without the key server`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.persistent))
        try await fixture.stage.run {
            let stored = Locked<Data?>(nil)
            let script: @Sendable (AVAssetResourceLoadingRequest) throws -> Void = { request in
                let key = try stored.withLock { $0 } ?? LoaderApp.storableKey(request, fixture)
                stored.withLock { $0 = key }
                request.contentInformationRequest?.contentType = AVStreamingKeyDeliveryPersistentContentKeyType
                request.dataRequest?.respond(with: key)
                request.finishLoading()
            }
            for _ in 0..<2 {
                let app = LoaderApp(fixture, .transportStream, script)
                let result = try await app.play()
                #expect(result.isRight)
            }
            #expect(fixture.log.violations.isEmpty)
        }
    }
}

/// A request that a test retains.
// Sound: set on the loader's queue, and read after the callback has returned.
private final class KeptRequest: @unchecked Sendable {
    var request: AVAssetResourceLoadingRequest?
}

/// An app whose keys come through the resource loader.
private final class LoaderApp: NSObject, AVAssetResourceLoaderDelegate, Sendable {
    typealias Script = @Sendable (AVAssetResourceLoadingRequest) throws -> Void

    let asset: AVURLAsset
    private let script: Script

    init(_ fixture: StandInFixture, _ stream: DemoAsset = .transportStream, _ script: @escaping Script) {
        asset = AVURLAsset(url: StandInFixture.playlist(of: stream))
        self.script = script
        super.init()
        asset.resourceLoader.setDelegate(self, queue: DispatchQueue(label: "app.loader"))
    }

    func play() async throws -> StandInPlayback.Result {
        let item = AVPlayerItem(asset: asset)
        let player = AVPlayer(playerItem: item)
        await player.play()
        return try await item.standIn.finished()
    }

    func playAgain() async throws -> StandInPlayback.Result { try await play() }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool { (try? script(loadingRequest)) != nil }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
    ) -> Bool { (try? script(renewalRequest)) != nil }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
    ) {}

    static func answer(_ request: AVAssetResourceLoadingRequest, _ fixture: StandInFixture) throws {
        let name = request.request.url?.absoluteString ?? ""
        let spc = try request.streamingContentKeyRequestData(
            forApp: fixture.server.certificate, contentIdentifier: Data(name.utf8))
        request.dataRequest?.respond(with: try fixture.server.license(for: spc))
        request.finishLoading()
    }

    static func storableKey(_ request: AVAssetResourceLoadingRequest, _ fixture: StandInFixture) throws -> Data {
        let name = request.request.url?.absoluteString ?? ""
        let spc = try request.streamingContentKeyRequestData(
            forApp: fixture.server.certificate, contentIdentifier: Data(name.utf8),
            options: [AVAssetResourceLoadingRequestStreamingContentKeyRequestRequiresPersistentKey: true])
        return try request.persistentContentKey(fromKeyVendorResponse: fixture.server.license(for: spc))
    }
}
