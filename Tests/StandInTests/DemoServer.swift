import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySimulation

/// An HTTP server with the demo asset, its certificate and its licenses, for players that load them themselves.
final class DemoServer: Sendable {
    let requests = Locked<[HTTPRequest]>([])
    private let status = Locked(200)
    private let server: HTTPServer
    private let port: UInt16

    /// Runs a closure with a server.
    static func run(_ keys: KeyServer, _ body: (DemoServer) async throws -> Void) async throws {
        let demo = try DemoServer(keys)
        do { try await body(demo) } catch {
            await demo.server.stop()
            throw error
        }
        await demo.server.stop()
    }

    private init(_ keys: KeyServer) throws {
        let (requests, status) = (requests, status)
        server = HTTPServer { request in
            requests.withLock { $0.append(request) }
            switch request.path {
            case "/certificate": return HTTPResponse(contentType: "application/x-x509-ca-cert", bytes: keys.certificate)
            case "/license":
                let refusal = status.withLock { $0 }
                guard refusal == 200 else { return .text("No.", status: refusal) }
                guard let license = try? keys.license(for: request.body) else { return .text("No SPC.", status: 400) }
                return HTTPResponse(contentType: "application/octet-stream", bytes: license)
            case "/setup", "/teardown": return .text("Done.")
            default:
                let file = DemoAsset.folder.appending(path: request.path)
                return .file(file.path, contentType: "application/vnd.apple.mpegurl", for: request)
            }
        }
        port = try server.start()
    }

    var certificate: String { "http://127.0.0.1:\(port)/certificate" }
    var license: String { "http://127.0.0.1:\(port)/license" }
    var address: String { "http://127.0.0.1:\(port)" }

    func playlist(of stream: DemoAsset) -> String { "\(address)/\(stream.rawValue)/master.m3u8" }

    /// Answers license requests with an error status.
    func refuseLicenses(with status: Int) { self.status.withLock { $0 = status } }

    /// The bodies of the license requests.
    var licenseBodies: [Data] { requests.withLock { $0.filter { $0.path == "/license" }.map(\.body) } }
}
