package import Foundation
import LatchkeyCore

/// A `CurlClient`'s limits and trusted authorities.
package struct CurlConfiguration: Sendable, Hashable {
    /// The maximum number of connections to a host. Further requests wait.
    package var connectionsPerHost = 6
    /// The maximum size of a reply's head in bytes, including interim replies and trailers. Defaults to 128 KiB.
    package var headBytes = 128 << 10
    /// The maximum number of header fields of a reply, including interim replies and trailers. Defaults to 1,000.
    package var headFields = 1_000
    /// The maximum duration of an exchange, even if its body makes progress. Defaults to 10 minutes.
    ///
    /// The request's `timeoutInterval` limits the time until the head is complete, and each pause in the body.
    package var longestExchange = Duration.seconds(600)
    /// A PEM file of authorities that are trusted in addition to the system's. Defaults to `nil`: only the system's.
    ///
    /// As with OpenSSL, the variables `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's file and folder.
    package var authorities: URL?

    /// - Parameters:
    ///   - connectionsPerHost: the maximum number of connections to a host.
    ///   - authorities: a PEM file of authorities that are trusted in addition to the system's.
    package init(connectionsPerHost: Int = 6, authorities: URL? = nil) {
        self.connectionsPerHost = connectionsPerHost
        self.authorities = authorities
    }
}

/// The authorities that OpenSSL trusts.
struct TrustedAuthorities {
    /// The file of authorities; `nil` for libcurl's own.
    let file: String?
    /// The folder of authorities, one file per certificate hash; `nil` for libcurl's own.
    let folder: String?

    /// A given file replaces the system's file, but the system's folder holds the same authorities.
    init(_ given: URL?, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let set = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        file = given?.path ?? set("SSL_CERT_FILE")
        folder = set("SSL_CERT_DIR")
    }
}
