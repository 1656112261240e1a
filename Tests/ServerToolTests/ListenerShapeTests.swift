import Foundation
import TLSPeer
import Testing

@testable import LatchkeyLicensing
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
        let refusals = stage.server.shared.metrics.httpRefusals
        for listener in ["players", "packagers", "operators"] {
            for (status, shapes) in Dictionary(grouping: RequestShape.refused, by: \.status) {
                #expect(refusals[listener, "\(status)"].value == shapes.count, "\(listener): \(status)")
            }
        }
        #expect(await !stage.log.contains("smuggled"))
    }

    @Test(arguments: ["/t%2fdemo/certificate", "//t//demo//certificate", "/admin%2Fv1/tenants"])
    func `no listener accepts a path that a proxy could split differently`(_ path: String) async throws {
        let stage = try await TestServer(["health": ["port": 0]])
        let (places, refusals) = (stage.server.addresses, stage.server.shared.metrics.httpRefusals)
        let health = try #require(places.health)
        #expect(try await stage.license().0.status == 200)
        // An API counts its own refusals.
        #expect(try await stage.packager("speke", "POST", body: "<nope/>").status == 422)
        #expect(refusals.series.allSatisfy { $0.lines.allSatisfy { $0.value == 0 } })
        for (name, place) in [
            ("players", places.players), ("packagers", places.packagers), ("operators", places.operators),
            ("health", health),
        ] {
            let reply = try await stage.send(place.url + path)
            #expect(reply.status == 400 && JSONValue(reply.body)?["error"]?["code"]?.text == "httpPath")
            #expect(refusals[name, "400"].value == 1)
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
