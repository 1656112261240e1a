import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import Testing

/// What stands in for `AVAssetResourceLoader`.
@Suite struct ResourceLoaderTests {
    @Test(arguments: DemoAsset.allCases)
    func `a stream whose keys come through the loader plays right`(_ stream: DemoAsset) async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let app = LoaderApp(studio, stream) { try LoaderApp.answer($0, studio) }
            let result = try await app.play()
            #expect(result.isRight)
            #expect(studio.log.contents.count(of: "shouldWaitForLoading") == result.keyURIs.count)
            #expect(studio.log.violations.isEmpty)
        }
    }

    @Test func `a request that nobody handles fails the item`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let app = LoaderApp(studio) { _ in throw CocoaError(.featureUnsupported) }
            let error = await #expect(throws: AVError.self) { try await app.play() }
            #expect(error?.code == .contentIsNotAuthorized)
        }
    }

    @Test func `a request that nobody keeps is unanswered`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let app = LoaderApp(studio) { _ in }
            await #expect(throws: AVError.self) { try await app.play() }
        }
        #expect(studio.log.brokenRules == [.unanswered])
    }

    @Test func `a second end of a request is noticed`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let app = LoaderApp(studio) { request in
                try LoaderApp.answer(request, studio)
                request.finishLoading()
            }
            _ = try await app.play()
        }
        #expect(studio.log.brokenRules == [.finishedTwice])
    }

    @Test func `a content type that no key has is noticed`() async throws {
        let studio = try Studio()
        try await studio.stage.run {
            let app = LoaderApp(studio) { request in
                request.contentInformationRequest?.contentType = "application/octet-stream"
                try LoaderApp.answer(request, studio)
            }
            _ = try await app.play()
        }
        #expect(studio.log.brokenRules == [.wrongContentType])
    }

    @Test func `an app's error is the item's`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let app = LoaderApp(studio) { $0.finishLoading(with: NSError(domain: "app", code: 7)) }
            let error = await #expect(throws: NSError.self) { try await app.play() }
            #expect(error?.domain == "app" && error?.code == 7)
        }
    }

    @Test func `a request is cancelled once its SPC is made`() async throws {
        let studio = try Studio(.cancelsMidway)
        await studio.stage.run {
            let app = LoaderApp(studio) { try LoaderApp.answer($0, studio) }
            let error = await #expect(throws: AVError.self) { try await app.play() }
            #expect(error?.code == .operationCancelled)
            #expect(studio.log.names == ["shouldWaitForLoading", "didCancelLoading"])
        }
        #expect(studio.log.violations.isEmpty)
    }

    @Test func `an open request that is cancelled may not be finished`() async throws {
        let studio = try Studio()
        await studio.stage.run {
            let kept = Locked<AVAssetResourceLoadingRequest?>(nil)
            let app = LoaderApp(studio) { request in kept.withLock { $0 = request } }
            let request = Task { try await app.asset.resourceLoader.standIn.request("skd://demo/video") }
            await studio.log.untilCallback("shouldWaitForLoading")
            for request in app.asset.resourceLoader.standIn.openRequests {
                app.asset.resourceLoader.standIn.cancel(request)
            }
            await #expect(throws: AVError.self) { try await request.value }
            kept.withLock { $0 }?.finishLoading()
        }
        #expect(studio.log.brokenRules == [.finishedTwice])
    }

    @Test func `a renewal date has the key asked for again`() async throws {
        let studio = try Studio(terms: LicenseTerms(.lease(.seconds(600))))
        try await studio.stage.run {
            let app = LoaderApp(studio) { request in
                request.contentInformationRequest?.contentType = AVStreamingKeyDeliveryContentKeyType
                request.contentInformationRequest?.renewalDate = studio.time.date.addingTimeInterval(480)
                try LoaderApp.answer(request, studio)
            }
            _ = try await app.play()
            await studio.time.untilSomeoneSleeps(for: .seconds(480))
            studio.time.advance(by: .seconds(480))
            await studio.log.untilCallback("shouldWaitForRenewal")
            await studio.time.untilSomeoneSleeps(for: .seconds(480))
            studio.time.advance(by: .seconds(300))
            let result = try await app.playAgain()
            #expect(result.isRight)
            #expect(studio.log.contents.count(of: "shouldWaitForLoading") == 1)
        }
    }

    @Test func `a key that was stored through the loader plays without the key server`() async throws {
        let studio = try Studio(terms: LicenseTerms(.persistent))
        try await studio.stage.run {
            let stored = Locked<Data?>(nil)
            let script: @Sendable (AVAssetResourceLoadingRequest) throws -> Void = { request in
                let key = try stored.withLock { $0 } ?? LoaderApp.storableKey(request, studio)
                stored.withLock { $0 = key }
                request.contentInformationRequest?.contentType = AVStreamingKeyDeliveryPersistentContentKeyType
                request.dataRequest?.respond(with: key)
                request.finishLoading()
            }
            for _ in 0..<2 {
                let app = LoaderApp(studio, .transportStream, script)
                let result = try await app.play()
                #expect(result.isRight)
            }
            #expect(studio.log.violations.isEmpty)
        }
    }
}

/// An app that gets its keys through the resource loader.
private final class LoaderApp: NSObject, AVAssetResourceLoaderDelegate, Sendable {
    typealias Script = @Sendable (AVAssetResourceLoadingRequest) throws -> Void

    let asset: AVURLAsset
    private let script: Script

    init(_ studio: Studio, _ stream: DemoAsset = .transportStream, _ script: @escaping Script) {
        asset = AVURLAsset(url: Studio.playlist(of: stream))
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

    static func answer(_ request: AVAssetResourceLoadingRequest, _ studio: Studio) throws {
        let name = request.request.url?.absoluteString ?? ""
        let spc = try request.streamingContentKeyRequestData(
            forApp: studio.server.certificate, contentIdentifier: Data(name.utf8))
        request.dataRequest?.respond(with: try studio.server.license(for: spc))
        request.finishLoading()
    }

    static func storableKey(_ request: AVAssetResourceLoadingRequest, _ studio: Studio) throws -> Data {
        let name = request.request.url?.absoluteString ?? ""
        let spc = try request.streamingContentKeyRequestData(
            forApp: studio.server.certificate, contentIdentifier: Data(name.utf8),
            options: [AVAssetResourceLoadingRequestStreamingContentKeyRequestRequiresPersistentKey: true])
        return try request.persistentContentKey(fromKeyVendorResponse: studio.server.license(for: spc))
    }
}
