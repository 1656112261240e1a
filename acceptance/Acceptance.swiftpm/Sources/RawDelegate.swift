import AVFoundation

/// A key session's delegate that only looks at the first request, and answers each with an error.
nonisolated final class RawDelegate: NSObject, AVContentKeySessionDelegate {
    /// The observed form of a request.
    struct Look: Sendable {
        let identifierType: String
        let hasKeyScheme: Bool
        let isOnQueue: Bool
        let isMainThread: Bool
        let canBePersistable: Bool
    }

    /// The queue that the session was given.
    let queue = DispatchQueue(label: "acceptance.raw")
    let looks: AsyncStream<Look>
    private let mark = DispatchSpecificKey<Bool>()
    private let continuation: AsyncStream<Look>.Continuation
    private let certificate: Data?
    private let lock = NSLock()
    // Sound: behind the lock.
    private nonisolated(unsafe) var seen: (count: Int, spcPlace: String?) = (0, nil)

    /// How many requests came.
    var count: Int { lock.withLock { seen.count } }
    /// Where the first SPC came.
    var spcPlace: String? { lock.withLock { seen.spcPlace } }

    /// - Parameter certificate: Has an SPC made of each request. Defaults to `nil`: none.
    init(certificate: Data? = nil) {
        self.certificate = certificate
        (looks, continuation) = AsyncStream<Look>.makeStream()
        super.init()
        queue.setSpecific(key: mark, value: true)
    }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
        let identifier = keyRequest.identifier
        let text = (identifier as? String) ?? (identifier as? URL)?.absoluteString ?? ""
        continuation.yield(
            Look(
                identifierType: identifier.map { "\(type(of: $0))" } ?? "none", hasKeyScheme: text.hasPrefix("skd:"),
                isOnQueue: DispatchQueue.getSpecific(key: mark) == true, isMainThread: Thread.isMainThread,
                canBePersistable: keyRequest.canProvidePersistableContentKey))
        lock.withLock { seen.count += 1 }
        guard let certificate else {
            return keyRequest.processContentKeyResponseError(CocoaError(.userCancelled) as NSError)
        }
        keyRequest.makeStreamingContentKeyRequestData(forApp: certificate, contentIdentifier: Data(text.utf8)) {
            [self] _, _ in
            let isOurs = DispatchQueue.getSpecific(key: mark) == true
            let place = isOurs ? "the delegate's queue" : Thread.isMainThread ? "the main thread" : "another queue"
            lock.withLock { seen.spcPlace = seen.spcPlace ?? place }
            keyRequest.processContentKeyResponseError(CocoaError(.userCancelled) as NSError)
        }
    }
}
