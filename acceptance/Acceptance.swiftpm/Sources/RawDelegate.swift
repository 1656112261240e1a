import AVFoundation

/// A key session's delegate that only looks at the first request, and answers each with an error.
nonisolated final class RawDelegate: NSObject, AVContentKeySessionDelegate {
    /// What a request looked like.
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

    override init() {
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
        keyRequest.processContentKeyResponseError(CocoaError(.userCancelled) as NSError)
    }
}
