package import Foundation
package import LatchkeyFairPlay
package import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyServices

/// Every vendor's license service and a folder of media on one loopback host.
package struct TestBench: Sendable {
    package let host: ServiceHost
    /// `http://127.0.0.1:8080`, or https if the configuration has a TLS identity.
    package let address: String

    /// Starts the host.
    /// - Parameters:
    ///   - credentials: the key server's credentials, one per certificate.
    ///   - keys: the content keys of the media.
    ///   - media: the folder of media.
    ///   - policy: the terms if a token states none. Defaults to terms without a limit.
    ///   - configuration: address, port and TLS.
    ///   - tokenLifetime: how long a new token is valid. Defaults to the vendor's own time.
    ///   - lenient: the rules whose violation is only a warning. Empty by default.
    ///   - front: creates the handler that answers before the services; see `ServiceHost`. Defaults to no handler.
    ///   - log: called with one line per exchange.
    ///   - services: creates the services. Defaults to one of each vendor.
    package static func start(
        credentials: [KeyServerCredential], keys: ContentKeyStore, media: URL, policy: LicensePolicy = LicensePolicy(),
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(), tokenLifetime: Duration? = nil,
        lenient: Set<String> = [],
        front: ([any VendorService]) -> @Sendable (HTTPRequest) -> HTTPResponse? = { _ in { _ in nil } },
        log: @escaping @Sendable (String) -> Void = { _ in },
        services: (LicenseAuthority) -> [any VendorService]? = { _ in nil }
    ) throws -> TestBench {
        let module = KeyServerModule(credentials: credentials, derivation: InsecureTestDerivation())
        let pool = WorkerPool()
        let authority = LicenseAuthority(module: module, keys: keys, policy: policy, pool: pool)
        let services =
            services(authority)
            ?? VendorServices.all(authority: authority, tokenLifetime: tokenLifetime, lenient: lenient, log: log)
        let host = ServiceHost(
            services, media: MediaHost(folder: media), front: front(services), configuration: configuration, pool: pool,
            log: log)
        let port = try host.start()
        let scheme = configuration.tls == nil ? "http" : "https"
        let isEverywhere = ["0.0.0.0", "::"].contains(configuration.address)
        let name = configuration.address.contains(":") ? "[\(configuration.address)]" : configuration.address
        return TestBench(host: host, address: "\(scheme)://\(isEverywhere ? "127.0.0.1" : name):\(port)")
    }

    /// Host and port.
    package var authority: String { address.split(separator: "://").last.map(String.init) ?? "" }

    /// The service for a profile.
    package func service(forProfile identifier: String) -> (any VendorService)? { host.services.serving(identifier) }

    /// The base address of a service's media and licenses.
    package func mount(of service: any VendorService) -> String { "\(address)/\(service.identifier)" }

    /// The address of a media file whose playlists have key URIs of a service.
    package func media(_ path: String, through service: any VendorService) -> String {
        "\(address)/media/\(service.identifier)/\(path)"
    }
}

extension [any VendorService] {
    /// The service for a profile: its name equals the profile's name or its beginning (`vudrm` for `vudrm-raw`).
    package func serving(_ profile: String) -> (any VendorService)? {
        filter { profile == "\($0.identifier)" || profile.hasPrefix("\($0.identifier)-") }
            .max { "\($0.identifier)".count < "\($1.identifier)".count }
    }
}
