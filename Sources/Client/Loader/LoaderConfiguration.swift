import LatchkeyCore

/// What can be set about a loader. The defaults are for production.
public struct LoaderConfiguration: Sendable {
    /// How often and how soon a failed request is sent again, and how long everything may take.
    public var retry: RetryPolicy
    /// Where requests may go.
    public var hosts: HostPolicy
    /// When keys are renewed.
    public var leases: LeasePolicy
    /// How long a fetched certificate is used; 24 hours unless given.
    public var certificateLifetime: Duration
    /// When the certificate is fetched.
    public var certificateFetch: CertificateFetch
    /// The largest body of a certificate or license reply, in bytes; 1 MiB unless given, a hundred times a real one.
    public var bodyLimit: Int
    /// How many redirects of one request are followed; 5 unless given.
    public var redirectLimit: Int
    /// Where keys are stored that play without a network; nil, the default, where none are. One store for one loader.
    public var keyStore: (any PersistableKeyStore)?
    /// When stored keys are due for renewal, and how many there may be.
    public var offline: OfflinePolicy

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
        keyStore: (any PersistableKeyStore)? = nil, offline: OfflinePolicy = OfflinePolicy()
    ) {
        self.retry = retry
        self.hosts = hosts
        self.leases = leases
        self.certificateLifetime = certificateLifetime
        self.certificateFetch = certificateFetch
        self.bodyLimit = bodyLimit
        self.redirectLimit = redirectLimit
        self.keyStore = keyStore
        self.offline = offline
    }
}
