import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices

/// A VuDRM service on loopback, and its requests in wire form.
struct LicenseService: Sendable {
    let host: ServiceHost
    let port: UInt16
    /// HTTP requests in the raw dialect, each with its own SPC.
    let requests: [[UInt8]]

    /// Starts the service.
    /// - Parameter bench: holds the credentials and the SPCs.
    init(_ bench: KeyServerBench) throws {
        var random = SystemRandomNumberGenerator()
        guard let id = KeyID(bytes: random.bytes(16)) else { throw Diagnosis.loadFailed("no key identifier") }
        let stored = StoredKey(
            uri: KeyURI("skd://bench/key"), id: id, content: try KeyServerBench.contentKey(using: &random))
        let pool = WorkerPool()
        let authority = LicenseAuthority(module: bench.module, keys: ContentKeyStore([stored]), pool: pool)
        // The requests are sent repeatedly.
        let lenient: Set = ["vudrm/tokenOnce", "vudrm/tokenAge"]
        let service = VuDRMService(ServiceEnvironment(authority: authority, lenient: lenient))
        host = ServiceHost([service], pool: pool)
        port = try host.start()
        let token = service.demoToken().revealedText
        requests = bench.spcs.map { spc in
            let headers: HTTPHeaders = ["x-vudrm-token": token, .contentType: "application/octet-stream"]
            return HTTPRequest(method: .post, target: "/license/key", headers: headers, body: Data(spc))
                .bytes(to: "127.0.0.1")
        }
    }
}
