import AVFoundation
import LatchkeySimulation
import StandInEngine

/// An app that gets its keys through the resource loader.
final class LoaderApp: NSObject, AVAssetResourceLoaderDelegate, Sendable {
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
