public import Foundation
import LatchkeyCore
public import LatchkeyVendors

/// Something that happened on a key's way, for logs and metrics. Holds no secret.
public struct KeyEvent: Sendable {
    /// The key request that it belongs to, counted from 1; 0 for what belongs to none, such as the certificate's prefetch or a session.
    public let exchange: Int
    /// The key's URI with secret query items replaced; empty for what belongs to no key.
    public let key: String
    /// When it happened, by the loader's timekeeper.
    public let date: Date
    /// What happened.
    public let kind: Kind

    /// What can happen.
    public enum Kind: Sendable {
        /// The player asked for a key.
        case requested(KeyPurpose)
        /// A stage came to its end, well or badly.
        case stageEnded(ContentKeyError.Stage, took: Duration)
        /// The certificate was at hand; fetching it had taken this long.
        case certificateFromCache(saved: Duration)
        /// Another part was at hand, from a preload or an earlier key; getting it had taken this long.
        case prepared(PreloadResult.Part, saved: Duration)
        /// A preload got these parts ready for the key.
        case preloaded([PreloadResult.Part])
        /// The token looks wrong; it is sent all the same, because only the service can tell.
        case tokenAdvice([TokenInspection.Advice])
        /// A request was sent and got a reply.
        case exchanged(HTTPSummary)
        /// A request got no reply.
        case unanswered(HTTPSummary, code: String)
        /// A redirect was followed.
        case redirected(to: String, credentialsDropped: Bool)
        /// An attempt failed, and another follows after a wait.
        case retrying(attempt: Int, after: Duration, code: String)
        /// The key will be renewed after a time, ahead of its lease's end; no lease where its length is not known.
        case renewalPlanned(after: Duration, lease: Duration?)
        /// The player is asked to renew the key.
        case renewalDue
        /// A renewal got no license; the player is asked again after a wait, or not at all where there is none.
        case renewalFailed(code: String, nextAfter: Duration?)
        /// The key's life ended although it is still wanted.
        case ended(ContentKeyError)
        /// The player needs the key no more.
        case released
        /// The stored key answered the request, without a network.
        case answeredFromStore
        /// The key was stored, to play without a network.
        case keyStored
        /// The player rejected the stored key, and it was removed.
        case storedKeyDropped
        /// A window of the stored key ended.
        case storedKeyExpired
        /// The store could not be read or written, or did not take the key; the player is served all the same.
        case storeFailed(OfflineError)
        /// The secure session came to a state.
        case session(SessionState)
        /// A session could not be opened, kept alive or ended.
        case sessionFailed(ContentKeyError)
        /// The player got its key.
        case answered(took: Duration)
        /// The player got an error.
        case failed(ContentKeyError, took: Duration)
    }

    /// One HTTP exchange without its secrets.
    public struct HTTPSummary: Sendable, Hashable, Codable {
        /// The stage that it served.
        public let stage: ContentKeyError.Stage
        /// The HTTP method.
        public let method: String
        /// The URL, secret query items replaced.
        public let url: String
        /// The status; nil where no reply came.
        public let status: Int?
        /// How long it took, in milliseconds.
        public let milliseconds: Double
    }
}

/// Hands events to whoever listens.
final class EventHub: Sendable {
    private struct Listeners {
        var next = 0
        var continuations: [Int: AsyncStream<KeyEvent>.Continuation] = [:]
        /// What happened before the first listener came: the certificate's fetch begins with the loader. Nil from then on.
        var early: [KeyEvent]? = []
    }

    /// How many events wait for a slow listener; older ones are dropped.
    private static let buffer = 1_024
    /// How many events the first listener finds that came before it.
    private static let earlyLimit = 64

    private let listeners = Locked(Listeners())

    deinit { for continuation in listeners.withLock({ $0.continuations }).values { continuation.finish() } }

    func stream() -> AsyncStream<KeyEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: KeyEvent.self, bufferingPolicy: .bufferingNewest(Self.buffer))
        let id = listeners.withLock { listeners in
            for event in listeners.early ?? [] { continuation.yield(event) }
            listeners.early = nil
            listeners.next += 1
            listeners.continuations[listeners.next] = continuation
            return listeners.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { _ = $0.continuations.removeValue(forKey: id) }
        }
        return stream
    }

    func send(_ event: KeyEvent) {
        let continuations = listeners.withLock { listeners in
            if let early = listeners.early { listeners.early = early.suffix(Self.earlyLimit - 1) + [event] }
            return Array(listeners.continuations.values)
        }
        for continuation in continuations { continuation.yield(event) }
    }
}
