public import Foundation
import LatchkeyCore
import StandInEngine

/// A request for a key by its URL.
@available(iOS 6.0, macOS 10.9, tvOS 9.0, visionOS 1.0, *)
@available(watchOS, unavailable)
open class AVAssetResourceLoadingRequest: NSObject {
    enum Phase {
        case open
        case finished
        /// The player cancelled it but has not called the delegate yet.
        case cancelling
        case cancelled
    }

    // Sound: the loader keeps the mutable state behind its own lock.
    struct State: @unchecked Sendable {
        var phase = Phase.open
        var response: URLResponse?
        var redirect: URLRequest?
        weak var loader: AVAssetResourceLoader?
        var exchange: StandInExchange
    }

    public let request: URLRequest
    public let requestor = AVAssetResourceLoadingRequestor()
    public let contentInformationRequest: AVAssetResourceLoadingContentInformationRequest?
    public let dataRequest: AVAssetResourceLoadingDataRequest?
    let uri: KeyURI
    let stage: StandInStage
    let outcome = StandInOutcome<StandInKey>()
    let state: Locked<State>

    init(_ uri: KeyURI, _ url: URL, of loader: AVAssetResourceLoader, _ exchange: StandInExchange) {
        self.uri = uri
        stage = loader.stage
        request = URLRequest(url: url)
        contentInformationRequest = AVAssetResourceLoadingContentInformationRequest(stage)
        dataRequest = AVAssetResourceLoadingDataRequest()
        var state = State(exchange: exchange)
        state.loader = loader
        self.state = Locked(state)
    }

    deinit {
        guard outcome.settle(.failure(AVError.because(.contentIsUnavailable, "The request was dropped."))) else {
            return
        }
        stage.log.note(.unanswered, "The loading request for \(uri.raw) was dropped without an answer.")
    }

    public var isFinished: Bool { state.withLock { $0.phase == .finished } }
    public var isCancelled: Bool { state.withLock { $0.phase == .cancelled || $0.phase == .cancelling } }
    public var response: URLResponse? {
        get { state.withLock { $0.response } }
        set { state.withLock { $0.response = newValue } }
    }
    public var redirect: URLRequest? {
        get { state.withLock { $0.redirect } }
        set { state.withLock { $0.redirect = newValue } }
    }

    /// Makes an SPC on this thread.
    @available(iOS, introduced: 7.0, deprecated: 18.0)
    @available(macOS, introduced: 10.9, deprecated: 15.0)
    @available(tvOS, introduced: 9.0, deprecated: 18.0)
    @available(visionOS, introduced: 1.0, deprecated: 2.0)
    public func streamingContentKeyRequestData(
        forApp appIdentifier: Data, contentIdentifier: Data, options: [String: Any]? = nil
    ) throws -> Data {
        let option = AVAssetResourceLoadingRequestStreamingContentKeyRequestRequiresPersistentKey
        let wantsPersistent = options?[option] as? Bool == true
        let exchange = state.withLock { state in
            if wantsPersistent, state.exchange.purpose == .streaming {
                state.exchange = StandInExchange(
                    .persistable, for: uri.raw, destination: state.exchange.destination, on: stage)
            }
            return state.exchange
        }
        guard !wantsPersistent || exchange.destination == .device, !isCancelled else {
            throw AVError.because(.operationCancelled, "The key cannot be asked for in this way now.")
        }
        do {
            let spc = try exchange.makeSPC(certificate: appIdentifier, contentIdentifier: contentIdentifier)
            if stage.misbehaves(.cancelsMidway) { state.withLock { $0 }.loader?.cancel(self) }
            return spc
        } catch {
            throw AVError.wrapping(error as NSError)
        }
    }

    /// Makes the data that the app stores and responds with.
    @available(iOS, introduced: 9.0, deprecated: 18.0)
    @available(macOS, introduced: 10.15, deprecated: 15.0)
    @available(tvOS, introduced: 9.0, deprecated: 18.0)
    @available(visionOS, introduced: 1.0, deprecated: 2.0)
    public func persistentContentKey(
        fromKeyVendorResponse keyVendorResponse: Data, options: [String: Any]? = nil
    ) throws -> Data {
        do { return try state.withLock { $0.exchange }.storableKey(from: keyVendorResponse) } catch {
            throw AVError.wrapping(error as NSError)
        }
    }

    /// Finishes the request with the data that the app provided.
    public func finishLoading() { finish(nil) }

    /// Finishes the request with an error, or with the data that the app provided.
    public func finishLoading(with error: (any Error)?) { finish(error) }

    /// The old, deprecated way to finish a request.
    @available(iOS, introduced: 6.0, deprecated: 7.0)
    @available(macOS, introduced: 10.9, deprecated: 10.9)
    public func finishLoading(with response: URLResponse?, data: Data?, redirect: URLRequest?) {
        if let data { dataRequest?.respond(with: data) }
        finish(nil)
    }

    private func finish(_ error: (any Error)?) {
        let phase = state.withLock { state in
            let phase = state.phase
            if phase == .open { state.phase = .finished }
            return phase
        }
        guard phase == .open else {
            // An app cannot know about a cancellation that was not delivered.
            if phase != .cancelling { stage.log.note(.finishedTwice, uri.raw) }
            return
        }
        if let error {
            if !(error is AVError), !AppleError.isNSError(error) {
                stage.log.note(.errorWithoutText, "\(type(of: error)) for \(uri.raw)")
            }
            outcome.settle(.failure(error is AVError ? error : AppleError.passedOn(error)))
        } else {
            outcome.settle(Result { try openData() })
        }
    }

    private func openData() throws -> StandInKey {
        contentInformationRequest?.checkType(for: uri)
        do {
            return try state.withLock { $0.exchange }.open(dataRequest?.data ?? Data())
        } catch let turndown as Turndown {
            throw AVError.wrapping(turndown.error)
        } catch {
            throw AVError.wrapping(error as NSError)
        }
    }
}

/// A request for a key whose renewal date has been reached.
@available(iOS 6.0, macOS 10.9, tvOS 9.0, visionOS 1.0, *)
@available(watchOS, unavailable)
open class AVAssetResourceRenewalRequest: AVAssetResourceLoadingRequest {}
