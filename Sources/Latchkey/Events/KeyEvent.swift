public import Foundation
public import LatchkeyCore
public import LatchkeyVendors

/// An event on a key's way, for logs and metrics. Holds no secret.
///
/// It prints as one log line, has a log `level`, and encodes as JSON. `KeyStatistics` counts it.
public struct KeyEvent: Sendable {
    /// The key request that it belongs to, counted from 1; 0 for events without one, such as the certificate's prefetch or a session.
    public let exchange: Int
    /// The key's URI with secret query items replaced; `nil` for events without a key.
    public var key: KeyURI? { keyText.isEmpty ? nil : KeyURI(keyText) }
    package let keyText: String
    /// The title that the app named for the key; `nil` if it named none, and for events without a key.
    public let asset: AssetID?
    /// When it happened, by the loader's timekeeper.
    public let date: Date
    /// The kind of event and its details.
    public let kind: Kind

    /// Makes an event, as for the tests of an app's own log.
    package init(exchange: Int, key: String, asset: AssetID? = nil, date: Date, kind: Kind) {
        self.exchange = exchange
        keyText = key
        self.asset = asset
        self.date = date
        self.kind = kind
    }

    /// The kinds of events.
    public enum Kind: Sendable {
        /// The player requested a key.
        case requested(KeyPurpose)
        /// A stage ended, successfully or not.
        case stageEnded(ContentKeyError.Stage, took: Duration)
        /// The certificate was cached; fetching it had taken this long.
        case certificateFromCache(saved: Duration)
        /// Another part was cached, from a preload or an earlier key; getting it had taken this long.
        case prepared(PreloadResult.Part, saved: Duration)
        /// A preload prepared these parts for the key.
        case preloaded([PreloadResult.Part])
        /// The token looks wrong. It is sent anyway, because only the service knows.
        case tokenAdvice([TokenInspection.Advice])
        /// The application certificate has an unknown format, such as a certificate bundle. It is passed on unchanged.
        case certificateUnrecognized(format: String)
        /// A license came in an undocumented form, and was read anyway.
        case replyWarning(ReplyWarning)
        /// A request was sent and got a reply.
        case exchanged(HTTPSummary)
        /// A request got no reply.
        case unanswered(HTTPSummary, code: String)
        /// A redirect was followed.
        case redirected(to: String, credentialsDropped: Bool)
        /// An attempt failed, and another follows after a wait.
        case retrying(attempt: Int, after: Duration, code: String)
        /// The key will be renewed after a time, before its lease ends; `nil` if the lease's length is not known.
        case renewalPlanned(after: Duration, lease: Duration?)
        /// The player is asked to renew the key.
        case renewalDue
        /// A renewal got no license. The player is asked again after a wait, or not at all if it is `nil`.
        case renewalFailed(code: String, nextAfter: Duration?)
        /// The key ended although the player did not release it.
        case ended(ContentKeyError)
        /// The player released the key.
        case released
        /// The loader holds the maximum number of keys of `LeasePolicy`, and no longer renews this one, the oldest.
        case evicted
        /// The stored key answered the request, without a network.
        case answeredFromStore
        /// The key was stored, to play without a network.
        case keyStored
        /// The player rejected the stored key, and it was removed.
        case storedKeyDropped
        /// A window of the stored key ended.
        case storedKeyExpired
        /// The store could not be read or written, or did not accept the key. The player gets its key anyway.
        case storeFailed(OfflineError)
        /// The secure session changed its state.
        case session(SessionState)
        /// A session could not be opened, kept alive or ended.
        case sessionFailed(ContentKeyError)
        /// The player got its key.
        case answered(took: Duration)
        /// The player's system already held the key, an advisory key: no license was requested, and no answer was given.
        case heldBySystem(took: Duration)
        /// The player got an error.
        case failed(ContentKeyError, took: Duration)
    }

    /// One HTTP exchange without its secrets.
    public struct HTTPSummary: Sendable, Hashable, Codable {
        /// The stage that it belongs to.
        public let stage: ContentKeyError.Stage
        /// The HTTP method.
        public let method: String
        /// The URL, secret query items replaced.
        public let url: String
        /// The status; `nil` if no reply came.
        public let status: Int?
        /// How long it took, in milliseconds.
        public let milliseconds: Double
        /// The time to make the request, including the app's credentials, in milliseconds; `nil` for the request after a redirect.
        package var preparationMilliseconds: Double?
        /// The time that the request waited for its host, in milliseconds; `nil` for the request after a redirect.
        package var queueMilliseconds: Double?
        /// The bytes of the request's body and of the reply's, or `nil`.
        package var sentBytes, receivedBytes: Int?
        /// The id under which the service's support finds the request; `nil` if the reply names none.
        package var requestID: String?
        /// The request's trace; `nil` if it carried none.
        package var traceParent: TraceParent?

        /// Makes a summary.
        package init(stage: ContentKeyError.Stage, method: String, url: String, status: Int?, milliseconds: Double) {
            self.stage = stage
            self.method = method
            self.url = url
            self.status = status
            self.milliseconds = milliseconds
        }
    }
}
