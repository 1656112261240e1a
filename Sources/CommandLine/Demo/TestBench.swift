import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServer
import LatchkeyServices

/// Every vendor's license service and a folder of media on one loopback host.
struct TestBench: Sendable {
    let host: ServiceHost
    /// `http://127.0.0.1:8080`, or https where the configuration has a TLS identity.
    let address: String

    /// Starts the host.
    /// - Parameters:
    ///   - credentials: what the key server holds, one entry per certificate.
    ///   - keys: the content keys of the media.
    ///   - media: the folder of media.
    ///   - configuration: address, port and TLS.
    ///   - log: takes one line per exchange.
    static func start(
        credentials: [KeyServerCredential], keys: ContentKeyStore, media: URL,
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> TestBench {
        let module = KeyServerModule(credentials: credentials, derivation: InsecureTestDerivation())
        let pool = WorkerPool()
        let authority = LicenseAuthority(module: module, keys: keys, pool: pool)
        let services = VendorServices.all(authority: authority, log: log)
        let host = ServiceHost(
            services, media: MediaHost(folder: media), configuration: configuration, pool: pool, log: log)
        let port = try host.start()
        let scheme = configuration.tls == nil ? "http" : "https"
        return TestBench(host: host, address: "\(scheme)://127.0.0.1:\(port)")
    }

    /// The service that a profile speaks to: the one of its name, or of its name's beginning (`vudrm` for `vudrm-raw`).
    func service(forProfile identifier: String) -> (any VendorService)? {
        host.services.filter { identifier == "\($0.identifier)" || identifier.hasPrefix("\($0.identifier)-") }
            .max { "\($0.identifier)".count < "\($1.identifier)".count }
    }

    /// Where a service's media and license addresses begin.
    func mount(of service: any VendorService) -> String { "\(address)/\(service.identifier)" }

    /// The address of a media file, its playlists with key URIs that lead to a service.
    func media(_ path: String, through service: any VendorService) -> String {
        "\(address)/media/\(service.identifier)/\(path)"
    }
}
