public import Dispatch
public import Foundation
import LatchkeyCore
import StandInEngine

/// Asks its delegate for resources that an asset cannot load itself: here, keys.
@available(iOS 6.0, macOS 10.9, tvOS 9.0, visionOS 1.0, *)
@available(watchOS, unavailable)
open class AVAssetResourceLoader: NSObject {
    struct State {
        weak var delegate: (any AVAssetResourceLoaderDelegate)?
        var queue: DispatchQueue?
        var keys: [String: StandInKey] = [:]
        var handed: [HandedRequest] = []
        var renewals: [String: Task<Void, Never>] = [:]
        var preloads = false
        var sendsCommonMediaClientData = false
    }

    let stage: StandInStage
    let state = Locked(State())

    init(on stage: StandInStage) { self.stage = stage }

    deinit {
        for renewal in state.withLock({ Array($0.renewals.values) }) { renewal.cancel() }
    }

    public func setDelegate(_ delegate: (any AVAssetResourceLoaderDelegate)?, queue delegateQueue: dispatch_queue_t?) {
        if delegate != nil, delegateQueue == nil {
            stage.log.note(.delegateWithoutQueue, "AVAssetResourceLoader.setDelegate")
            return
        }
        // Sound: the delegate is called only on its own queue, as in the real SDK.
        nonisolated(unsafe) let delegate = delegate
        state.withLock {
            $0.delegate = delegate
            $0.queue = delegateQueue
        }
    }

    public var delegate: (any AVAssetResourceLoaderDelegate)? {
        state.withLock { state in
            // Sound for the same reason as in `setDelegate`.
            nonisolated(unsafe) let delegate = state.delegate
            return delegate
        }
    }

    public var delegateQueue: dispatch_queue_t? { state.withLock { $0.queue } }

    public var preloadsEligibleContentKeys: Bool {
        get { state.withLock { $0.preloads } }
        set { state.withLock { $0.preloads = newValue } }
    }

    @available(iOS 18.0, macOS 15.0, tvOS 18.0, visionOS 2.0, *)
    public var sendsCommonMediaClientDataAsHTTPHeaders: Bool {
        get { state.withLock { $0.sendsCommonMediaClientData } }
        set { state.withLock { $0.sendsCommonMediaClientData = newValue } }
    }
}

/// Loads resources that an asset cannot load itself. Every method is optional.
@available(iOS 6.0, macOS 10.9, tvOS 9.0, visionOS 1.0, *)
@available(watchOS, unavailable)
public protocol AVAssetResourceLoaderDelegate: NSObjectProtocol {
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
    ) -> Bool

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest)

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForResponseTo authenticationChallenge: URLAuthenticationChallenge
    ) -> Bool

    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel authenticationChallenge: URLAuthenticationChallenge)
}

extension AVAssetResourceLoaderDelegate {
    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool {
        CallbackProbe.noteDefault()
        return false
    }

    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
    ) -> Bool {
        CallbackProbe.noteDefault()
        return false
    }

    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
    ) { CallbackProbe.noteDefault() }

    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForResponseTo authenticationChallenge: URLAuthenticationChallenge
    ) -> Bool {
        CallbackProbe.noteDefault()
        return false
    }

    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel authenticationChallenge: URLAuthenticationChallenge
    ) { CallbackProbe.noteDefault() }
}

/// Makes the SPC request a persistable key; `Bool`.
@available(iOS, introduced: 9.0, deprecated: 18.0)
@available(macOS, introduced: 10.14, deprecated: 15.0)
@available(tvOS, introduced: 9.0, deprecated: 18.0)
public let AVAssetResourceLoadingRequestStreamingContentKeyRequestRequiresPersistentKey =
    "AVAssetResourceLoadingRequestStreamingContentKeyRequestRequiresPersistentKey"
/// The content type of a CKC.
public let AVStreamingKeyDeliveryContentKeyType = "com.apple.streamingkeydelivery.contentkey"
/// The content type of a stored key.
public let AVStreamingKeyDeliveryPersistentContentKeyType = "com.apple.streamingkeydelivery.persistentcontentkey"
