import Foundation
import TLSPeer
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// Requests of doubtful shape to the three listeners of the license server.
@Suite(.timeLimit(.minutes(5))) struct ListenerShapeTests {
    @Test(arguments: [false, true])
    func `every listener refuses every ambiguous request with one documented reply`(_ isTLS: Bool) async throws {
        let peer = try SelfSigned()
        let stage = try await TestServer(prepare: { folder in
            guard isTLS else { return }
            for name in ["players", "packagers", "operators"] { try peer.serve(name, of: folder) }
        })
        let places = stage.server.addresses
        let ports = [places.players, places.packagers, places.operators].compactMap { URL(string: $0.url)?.port }
        #expect(ports.count == 3)
        await withTaskGroup { group in
            for port in ports.compactMap({ UInt16(exactly: $0) }) {
                group.addTask { await Self.check(port, isTLS) }
            }
        }
        #expect(await !stage.log.contains("smuggled"))
    }

    @Test(arguments: ["/t%2fdemo/certificate", "//t//demo//certificate", "/admin%2Fv1/tenants"])
    func `no listener accepts a path that a proxy could split differently`(_ path: String) async throws {
        let stage = try await TestServer()
        let places = stage.server.addresses
        for place in [places.players, places.packagers, places.operators] {
            let reply = try await stage.send(place.url + path)
            #expect(reply.status == 400 && JSONValue(reply.body)?["error"]?["code"]?.text == "httpPath")
        }
    }

    private static func check(_ port: UInt16, _ isTLS: Bool) async {
        for shape in RequestShape.refused {
            let reply = try? await RawExchange.run(shape.bytes, port: port, isTLS: isTLS)
            #expect(reply?.status == shape.status, "\(shape)")
            #expect(reply?.isOneRefusal == true, "\(shape)")
        }
    }
}
