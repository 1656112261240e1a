public import AVFoundation

/// Loads keys for all players. Required, with the form of AVFoundation's method; Objective-C has no nullability here.
public protocol PTAVAssetResourceLoaderDelegate: NSObjectProtocol {
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader!,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest!
    ) -> Bool
}
