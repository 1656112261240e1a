public import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// A loader with completion handlers, for Objective-C and for code without Swift concurrency.
///
/// Each call's completion is called exactly once, on the queue, with a value or with an error of the domain `ContentKeyError.errorDomain`;
/// even if the call is cancelled.
#if canImport(ObjectiveC)
    @objc(LatchkeyCompletionKeyLoader)
#endif
public final class CompletionKeyLoader: NSObject, Sendable {
    /// Takes the result of a call: bytes or an error, never both.
    public typealias Completion = @Sendable (Data?, NSError?) -> Void
    /// Makes an SPC from the certificate and the content identifier; calls the completion once.
    public typealias SPCMaker = @Sendable (_ certificate: Data, _ contentIdentifier: Data, @escaping Completion) -> Void

    /// The underlying loader.
    package let loader: ContentKeyLoader
    private let queue: DispatchQueue

    /// - Parameters:
    ///   - loader: gets the keys.
    ///   - queue: the queue of completions and SPC makers; defaults to the main queue.
    public init(_ loader: ContentKeyLoader, queue: DispatchQueue = .main) {
        self.loader = loader
        self.queue = queue
        super.init()
    }

    /// Stops the heartbeats of the vendor's session until `resume()`, for an app in the background that does not play.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public func suspend() { loader.suspend(.only) }

    /// Sends heartbeats again after `suspend()`.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public func resume() { loader.resume(.only) }

    /// Ends all calls and releases their keys; also ends the vendor's session.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public func releaseKeys() { loader.release(.only) }
}

#if canImport(ObjectiveC)
    @objc
#endif
extension CompletionKeyLoader {
    /// Gets the application certificate, DER.
    @discardableResult
    public func certificate(completion: @escaping Completion) -> KeyCall {
        call(completion) { [loader] in try await loader.applicationCertificate().bytes }
    }

    /// Exchanges an SPC for a CKC.
    /// - Parameters:
    ///   - spc: the player's SPC.
    ///   - keyURI: the key's URI as the playlist states it.
    ///   - asset: the app's name for the title, for credentials and events; `nil` if it is not known.
    ///   - completion: takes the CKC or an error; called once.
    @discardableResult
    public func license(
        forSPC spc: Data, keyURI: String, asset: String? = nil, completion: @escaping Completion
    ) -> KeyCall {
        call(completion) { [loader] in
            try await loader.license(
                for: SPCMessage(spc), key: KeyURI(keyURI), asset: asset.map { AssetID($0) }
            ).ckc.revealed
        }
    }

    /// Gets the CKC for a key: certificate, SPC and license in one call.
    /// - Parameters:
    ///   - keyURI: the key's URI as the playlist states it.
    ///   - asset: the app's name for the title, for credentials and events; `nil` if it is not known.
    ///   - makeSPC: asks the player for an SPC.
    ///   - completion: takes the CKC or an error; called once.
    @discardableResult
    public func answer(
        keyURI: String, asset: String? = nil, makeSPC: @escaping SPCMaker, completion: @escaping Completion
    ) -> KeyCall {
        answer(keyURI, asset, .streaming, makeSPC, completion)
    }

    /// Gets a new CKC for a key whose lease is about to end; never from a cache. The app decides when.
    @discardableResult
    public func renew(
        keyURI: String, asset: String? = nil, makeSPC: @escaping SPCMaker, completion: @escaping Completion
    ) -> KeyCall {
        answer(keyURI, asset, .renewal, makeSPC, completion)
    }
}

extension CompletionKeyLoader {
    private func answer(
        _ keyURI: String, _ asset: String?, _ purpose: KeyPurpose, _ maker: @escaping SPCMaker,
        _ completion: @escaping Completion
    ) -> KeyCall {
        let request = loader.answer(
            CompletionKeyRequest(
                keyURI: KeyURI(keyURI), purpose: purpose, asset: asset.map { AssetID($0) }, queue: queue, maker: maker,
                promise: promise(completion)))
        return KeyCall(cancel: { request.cancel() }, release: { request.release() })
    }

    private func call(
        _ completion: @escaping Completion, _ body: @escaping @Sendable () async throws -> Data
    ) -> KeyCall {
        let promise = promise(completion)
        let task = startTask {
            promise.resolve(
                await Result(body).mapError { ContentKeyError($0, otherwise: .integrationFailed) })
        }
        return KeyCall {
            promise.resolve(.failure(.cancelled))
            task.cancel()
        }
    }

    /// A promise whose result goes to a completion, on the queue.
    private func promise(_ completion: @escaping Completion) -> Promise<Data, ContentKeyError> {
        let promise = Promise<Data, ContentKeyError>()
        promise.whenResolved { [queue] result in
            queue.async {
                switch result {
                case .success(let bytes): completion(bytes, nil)
                case .failure(let error): completion(nil, error.nsError)
                }
            }
        }
        return promise
    }
}

/// A call, and then the key that it brought. Releasing the object changes nothing.
#if canImport(ObjectiveC)
    @objc(LatchkeyKeyCall)
#endif
public final class KeyCall: NSObject, Sendable {
    private let ending: @Sendable () -> Void
    private let releasing: @Sendable () -> Void

    init(cancel: @escaping @Sendable () -> Void, release: @escaping @Sendable () -> Void = {}) {
        ending = cancel
        releasing = release
        super.init()
    }

    /// Cancels the call: its completion is called with the error `cancelled`, unless it was called before.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public func cancel() { ending() }

    /// Releases the key, so that a session of the vendor can end; a pending call is cancelled.
    #if canImport(ObjectiveC)
        // `release` alone is a method of every Objective-C object.
        @objc(releaseKey)
    #endif
    public func release() {
        cancel()
        releasing()
    }
}

/// A key request whose SPC and answer travel through closures.
private struct CompletionKeyRequest: PlayerKeyRequest {
    let keyURI: KeyURI
    let purpose: KeyPurpose
    let asset: AssetID?
    let queue: DispatchQueue
    let maker: CompletionKeyLoader.SPCMaker
    let promise: Promise<Data, ContentKeyError>

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        try await Promise.value { reply in
            queue.async {
                maker(certificate, contentIdentifier) { spc, error in
                    reply.resolve(spc.map(Result.success) ?? .failure(error ?? ContentKeyError.noSPC))
                }
            }
        }
    }

    func answer(_ result: Result<Data, ContentKeyError>) { promise.resolve(result) }
}
