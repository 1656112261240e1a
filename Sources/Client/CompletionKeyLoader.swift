public import Foundation
import LatchkeyCore
import LatchkeyVendors

/// A loader with completion handlers, for Objective-C and for code without Swift concurrency.
///
/// Each call's completion comes exactly once, on the queue, with a value or with an error of the domain
/// `ContentKeyError.errorDomain`; also when the call is cancelled.
#if canImport(ObjectiveC)
    @objc(LatchkeyCompletionKeyLoader)
#endif
public final class CompletionKeyLoader: NSObject, Sendable {
    /// What a call ends with: bytes or an error, never both.
    public typealias Completion = @Sendable (Data?, NSError?) -> Void
    /// Makes an SPC of the certificate and the content identifier, and hands it over once.
    public typealias SPCMaker = @Sendable (_ certificate: Data, _ contentIdentifier: Data, @escaping Completion) -> Void

    /// The loader behind it.
    public let loader: ContentKeyLoader
    private let queue: DispatchQueue

    /// - Parameters:
    ///   - loader: gets the keys.
    ///   - queue: where completions and SPC makers are called; the main one unless given.
    public init(_ loader: ContentKeyLoader, queue: DispatchQueue = .main) {
        self.loader = loader
        self.queue = queue
        super.init()
    }
}

#if canImport(ObjectiveC)
    @objc
#endif
extension CompletionKeyLoader {
    /// Gets the application certificate, DER.
    @discardableResult
    public func certificate(completion: @escaping Completion) -> KeyCall {
        call(completion) { [loader] in try await loader.applicationCertificate().der }
    }

    /// Exchanges an SPC for a CKC.
    /// - Parameters:
    ///   - spc: what the player made.
    ///   - keyURI: the key's URI as the playlist states it.
    ///   - completion: takes the CKC, or why there is none; called once.
    @discardableResult
    public func license(forSPC spc: Data, keyURI: String, completion: @escaping Completion) -> KeyCall {
        call(completion) { [loader] in
            try await loader.license(for: SPCMessage(spc), key: KeyURI(keyURI)).ckc.revealed
        }
    }

    /// Gets the CKC for a key: certificate, SPC and license in one call.
    /// - Parameters:
    ///   - keyURI: the key's URI as the playlist states it.
    ///   - makeSPC: has the player make an SPC.
    ///   - completion: takes the CKC, or why there is none; called once.
    @discardableResult
    public func answer(keyURI: String, makeSPC: @escaping SPCMaker, completion: @escaping Completion) -> KeyCall {
        answer(CompletionKeyRequest(KeyURI(keyURI), .streaming, on: queue, makeSPC, completion))
    }

    /// Gets a new CKC for a key whose lease runs out; never from a cache. The app decides when.
    @discardableResult
    public func renew(keyURI: String, makeSPC: @escaping SPCMaker, completion: @escaping Completion) -> KeyCall {
        answer(CompletionKeyRequest(KeyURI(keyURI), .renewal, on: queue, makeSPC, completion))
    }
}

extension CompletionKeyLoader {
    private func answer(_ request: CompletionKeyRequest) -> KeyCall {
        let handle = loader.answer(request)
        return KeyCall(cancel: { handle.cancel() }, release: { handle.release() })
    }

    private func call(
        _ completion: @escaping Completion, _ body: @escaping @Sendable () async throws -> Data
    ) -> KeyCall {
        let once = SingleCompletion(queue, completion)
        let task = startTask {
            do { once.give(.success(try await body())) } catch {
                once.give(.failure(ContentKeyError(error, otherwise: .integrationFailed)))
            }
        }
        return KeyCall {
            once.give(.failure(.cancelled))
            task.cancel()
        }
    }
}

/// A call under way, and then the key that it brought. Going away, it changes nothing.
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

    /// Ends the call: its completion comes with the error `cancelled`, unless it has come.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public func cancel() { ending() }

    /// Says that the player needs the key no more, so that a session of the vendor can end; an open call is cancelled.
    #if canImport(ObjectiveC)
        @objc
    #endif
    public func letGo() {
        cancel()
        releasing()
    }
}

/// A completion that is called once, on a queue.
private final class SingleCompletion: Sendable {
    private let queue: DispatchQueue
    private let completion: Locked<CompletionKeyLoader.Completion?>

    init(_ queue: DispatchQueue, _ completion: @escaping CompletionKeyLoader.Completion) {
        self.queue = queue
        self.completion = Locked(completion)
    }

    func give(_ result: Result<Data, ContentKeyError>) {
        let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        guard let completion else { return }
        queue.async {
            switch result {
            case .success(let bytes): completion(bytes, nil)
            case .failure(let error): completion(nil, error.nsError)
            }
        }
    }
}

/// A key request whose SPC and answer travel through closures.
private struct CompletionKeyRequest: PlayerKeyRequest {
    let keyURI: KeyURI
    let purpose: KeyPurpose
    private let queue: DispatchQueue
    private let maker: CompletionKeyLoader.SPCMaker
    private let completion: SingleCompletion

    init(
        _ keyURI: KeyURI, _ purpose: KeyPurpose, on queue: DispatchQueue,
        _ maker: @escaping CompletionKeyLoader.SPCMaker, _ completion: @escaping CompletionKeyLoader.Completion
    ) {
        self.keyURI = keyURI
        self.purpose = purpose
        self.queue = queue
        self.maker = maker
        self.completion = SingleCompletion(queue, completion)
    }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        let reply = SingleReply<Data>()
        return try await reply.value {
            queue.async {
                maker(certificate, contentIdentifier) { spc, error in
                    reply.give(spc.map(Result.success) ?? .failure(error ?? ContentKeyError.noSPC))
                }
            }
        }
    }

    func answer(_ result: Result<Data, ContentKeyError>) { completion.give(result) }
}
