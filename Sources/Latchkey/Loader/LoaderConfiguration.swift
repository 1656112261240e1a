public import Foundation
import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A loader's settings. The defaults are for production.
public struct LoaderConfiguration: Sendable {
    /// How often and how soon a failed request is sent again, and how long everything may take.
    public var retry: RetryPolicy
    /// The hosts that requests may go to.
    public var hosts: HostPolicy
    /// When keys are renewed.
    public var leases: LeasePolicy
    /// How long a fetched certificate is used. Defaults to 24 hours.
    public var certificateLifetime: Duration
    /// When the certificate is fetched.
    public var certificateFetch: CertificateFetch
    /// The largest body of a certificate or license reply, in bytes. Defaults to 1 MiB, a hundred times a real one.
    public var bodyLimit: Int
    /// The maximum number of redirects followed per request. Defaults to 5.
    public var redirectLimit: Int
    /// The maximum number of requests that the loader has in flight at one origin (scheme, host, port), whatever their purpose. Defaults to
    /// 6, as in browsers, and at least 1. The others wait in line, and credentials are requested in advance for only as many of them.
    /// Waiting counts toward the key's deadline, not toward an attempt's timeout.
    public var requestsPerHost: Int
    /// How long a request may wait for its host after it was made with its credentials. Defaults to 5 s. A request that waited longer is
    /// built again with new credentials, as a token may live 30 s.
    public var requestPatience: Duration
    /// How long credentials, and values looked up for one key, may wait for their license request after a preload requested them. Defaults
    /// to zero: then none are requested in advance, as a token may live 30 s. Each serves one request.
    public var preparedCredentialsLifetime: Duration
    /// Stores keys that play without a network; nil, the default, stores none. One store for one loader.
    public var keyStore: (any PersistableKeyStore)?
    /// When stored keys are due for renewal, and how many there may be.
    public var offline: OfflinePolicy
    /// How keys of streaming licenses are kept for replays; nil, the default, if each play has its own license.
    public var licenseCache: LicenseCachePolicy?
    /// Loads a playlist as the app does, with its cookies, headers or a newly signed URL; for preloads, `keys(of:)`, and the review of
    /// keys that rotate. Defaults to `nil`: over the loader's transport, without credentials. Called concurrently.
    ///
    ///     configuration.playlist = { try await session.data(from: sign($0)) }
    public var playlist: (@Sendable (_ url: URL) async throws -> (Data, URLResponse))?

    /// The trace that requests carry. Defaults to none.
    public var tracing: Tracing
    /// Whether the loader remembers its latest events, requests and replies for support. Defaults to off; `.support` of the product
    /// `LatchkeySupport` turns it on.
    public var recording: Recording
    /// Sees each event as it happens, on the thread where it happens; for tools, which must not miss one. It must return immediately.
    package var observer: (@Sendable (KeyEvent) -> Void)?

    /// The trace that requests carry.
    public enum Tracing: Sendable, Hashable {
        /// No trace.
        case off
        /// Each request for a certificate, a lookup, a session or a license carries a W3C `traceparent`, so that the server's log names
        /// the same trace as `KeyTrace`. It goes wherever credentials go, and not along a redirect that drops them. Playlists, and
        /// requests that a player sends itself, carry none.
        case traceparent
    }

    /// When the certificate is fetched.
    public enum CertificateFetch: Sendable, Hashable {
        /// When the loader is made, so that the first key finds it there.
        case atOnce
        /// When the first key is asked for.
        case withFirstKey
    }

    /// Makes a configuration.
    public init(
        retry: RetryPolicy = RetryPolicy(), hosts: HostPolicy = HostPolicy(), leases: LeasePolicy = LeasePolicy(),
        certificateLifetime: Duration = .seconds(86_400),
        certificateFetch: CertificateFetch = .atOnce, bodyLimit: Int = 1 << 20, redirectLimit: Int = 5,
        requestsPerHost: Int = 6, requestPatience: Duration = .seconds(5),
        preparedCredentialsLifetime: Duration = .zero,
        keyStore: (any PersistableKeyStore)? = nil, offline: OfflinePolicy = OfflinePolicy(),
        licenseCache: LicenseCachePolicy? = nil,
        playlist: (@Sendable (_ url: URL) async throws -> (Data, URLResponse))? = nil, tracing: Tracing = .off,
        recording: Recording = .off
    ) {
        self.retry = retry
        self.hosts = hosts
        self.leases = leases
        self.certificateLifetime = certificateLifetime
        self.certificateFetch = certificateFetch
        self.bodyLimit = bodyLimit
        self.redirectLimit = redirectLimit
        self.requestsPerHost = requestsPerHost
        self.requestPatience = requestPatience
        self.preparedCredentialsLifetime = preparedCredentialsLifetime
        self.keyStore = keyStore
        self.offline = offline
        self.licenseCache = licenseCache
        self.playlist = playlist
        self.tracing = tracing
        self.recording = recording
    }
}
