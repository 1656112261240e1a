import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

/// The facts of a bundle: versions, the stream, the loader's configuration, the requested keys, and the result.
struct SupportManifest: Codable, Sendable {
    /// The version of the bundle's format. A reader refuses a later one.
    var format = 1
    var latchkey: String
    var system: String
    /// When the bundle was made.
    var date: String
    /// The profile's name; for an integration in code, its own.
    var vendor: String
    var stream: String?
    var configuration: Configuration
    /// In the order of the requests.
    var keys: [Key]
    /// The pseudonyms of the app's credentials by name; `nil` if it gave none.
    var credentials: [String: String]?
    /// The failure that ended the playback, or `nil`.
    var failure: Failure?

    static let newestFormat = 1

    struct Key: Codable, Sendable {
        /// The number of the key request; 0 if a player performs the steps itself.
        let number: Int
        let uri: String
        let purpose: KeyPurpose
        /// `nil` if the player made none.
        var spcBytes: Int?
    }

    /// The first error.
    struct Failure: Codable, Sendable, Equatable {
        let code: String
        let stage: String?
    }

    /// A loader's settings; times are in milliseconds.
    struct Configuration: Codable, Sendable {
        let maximumAttempts: Int
        let firstWait, longestWait, attemptTimeout, deadline: Double
        let jitter: Double
        let allowedHosts: [String]
        let allowsLoopbackHTTP: Bool
        let fetchesCertificateAtOnce: Bool
        let bodyLimit, redirectLimit, requestsPerHost: Int
        let traces: Bool
        let storesKeys: Bool
    }
}

extension SupportManifest.Configuration {
    init(_ configuration: LoaderConfiguration) {
        let retry = configuration.retry
        maximumAttempts = retry.maximumAttempts
        (firstWait, longestWait) = (retry.firstWait.inMilliseconds, retry.longestWait.inMilliseconds)
        (attemptTimeout, deadline) = (retry.attemptTimeout.inMilliseconds, retry.deadline.inMilliseconds)
        jitter = retry.jitter
        allowedHosts = configuration.hosts.allowed.map(\.text).sorted()
        allowsLoopbackHTTP = configuration.hosts.loopback == .http
        fetchesCertificateAtOnce = configuration.certificateFetch == .atOnce
        (bodyLimit, redirectLimit) = (configuration.bodyLimit, configuration.redirectLimit)
        requestsPerHost = configuration.requestsPerHost
        (traces, storesKeys) = (configuration.tracing == .traceparent, configuration.keyStore != nil)
    }

    /// A loader's configuration, with any numbers that an untrusted file states.
    var loader: LoaderConfiguration {
        func duration(_ milliseconds: Double) -> Duration {
            .milliseconds(milliseconds.isFinite ? min(max(milliseconds, 0), 8.64e7) : 0)
        }
        return LoaderConfiguration(
            retry: RetryPolicy(
                maximumAttempts: min(max(maximumAttempts, 1), 100), firstWait: duration(firstWait),
                longestWait: duration(longestWait), jitter: jitter.isFinite ? min(max(jitter, 0), 1) : 0,
                attemptTimeout: duration(attemptTimeout), deadline: duration(deadline), refusalMemory: .zero),
            hosts: HostPolicy(
                allowed: Set(allowedHosts.prefix(1_000).map { HostPolicy.Host($0) }),
                loopback: allowsLoopbackHTTP ? .http : .asGiven),
            certificateFetch: fetchesCertificateAtOnce ? .atOnce : .withFirstKey,
            bodyLimit: min(max(bodyLimit, 0), 1 << 26), redirectLimit: min(max(redirectLimit, 0), 100),
            requestsPerHost: min(max(requestsPerHost, 1), 100))
    }
}

extension HostPolicy.Host {
    /// The host, and the port if one is stated.
    var text: String {
        let host = name.contains(":") ? "[\(name)]" : name
        return port.map { "\(host):\($0)" } ?? host
    }
}
