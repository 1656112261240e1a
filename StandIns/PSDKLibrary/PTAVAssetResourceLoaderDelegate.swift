public import AVFoundation

/// Loads keys for all players. The method is required and has the form of AVFoundation's; Objective-C has no nullability here.
public protocol PTAVAssetResourceLoaderDelegate: NSObjectProtocol {
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader!,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest!
    ) -> Bool
}
