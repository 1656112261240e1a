import AVFoundation
import StandInEngine

/// The SDK's own loader delegate. It passes every request to the registered loader. It cannot renew keys.
final class LoaderForwarder: NSObject, AVAssetResourceLoaderDelegate {
    private let factory: PTDefaultMediaPlayerClientFactory
    private let stage: StandInStage

    init(to factory: PTDefaultMediaPlayerClientFactory, _ stage: StandInStage) {
        self.factory = factory
        self.stage = stage
    }

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool {
        guard let loader = factory.retrievePTAVAssetResourceLoader() else { return false }
        defer {
            stage.log.note(
                StandInCallback(
                    name: "resourceLoader", subject: loadingRequest.request.url?.absoluteString,
                    place: "com.adobe.psdk.loader"))
        }
        return loader.resourceLoader(resourceLoader, shouldWaitForLoadingOfRequestedResource: loadingRequest)
    }
}
