import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct UplynkServiceTests {
    private static let asset = "a0b1c2d3e4f5061728394a5b6c7d8e9f"

    @Test(arguments: [
        ("/fairplay/public_key/demo.cer", nil, 200), ("/fairplay/public_key/other.cer", "demo", 404),
        ("/fairplay/public_key/demo.cer", "demo", 200), ("/fairplay/public_key/.cer", nil, 404),
        ("/fairplay/public_key/a/b.cer", nil, 404),
    ])
    func `the certificate is the owner's, in DER`(_ path: String, _ owner: String?, _ status: Int) async throws {
        try await withService(UplynkService.init, { $0.owner = owner }) { stage in
            let reply = try await stage.send("GET", path, ["Cache-Control": "max-age=0"])
            #expect(reply.status == status)
            #expect((reply.body == Stage.certificate) == (status == 200))
        }
    }

    @Test func `the key URI has the asset first and leads to the license`() async throws {
        try await withService(UplynkService.init) { stage in
            #expect(
                stage.keyURI.raw == "skd://127.0.0.1:\(stage.port)/uplynk/fairplay/ksm?b=\(Self.asset)&v=1&ray=latchkey"
            )
            let exchange = try stage.exchange(Self.asset)
            let path = "/fairplay/ksm?\(stage.keyURI.query ?? "")"
            let reply = try await stage.license(exchange.spc.revealed, path)
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/json")
            #expect(try stage.opensVideo(try reply.payload("ckc"), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test(arguments: [
        ("?b=\(asset)", #","assetId":"\#(asset)""#, "application/json", []),
        ("?beam=\(asset)&v=1", "", "application/json", ["assetItem"]),
        ("?b=\(asset)", "", "application/x-www-form-urlencoded", ["contentType"]),
    ])
    func `what shipped clients send is taken`(
        _ query: String, _ members: String, _ type: String, _ warnings: [String]
    ) async throws {
        try await withService(UplynkService.init) { stage in
            let spc = try stage.exchange(Self.asset).spc.revealed
            let reply = try await stage.license(spc, "/fairplay/ksm\(query)", members: members, type: type)
            #expect(reply.status == 200)
            #expect(stage.warnings == warnings)
        }
    }

    @Test(arguments: [
        ("", "", "application/json", 400), ("?b=", "", "application/json", 400),
        ("?b=nothing", "", "application/json", 404), ("?b=audio", "", "application/json", 403),
        ("?b=\(asset)", #","assetId":"other""#, "application/json", 400), ("?b=\(asset)", "", "text/plain", 415),
    ])
    func `a request that is wrong in one thing`(
        _ query: String, _ members: String, _ type: String, _ status: Int
    ) async throws {
        try await withService(UplynkService.init) { stage in
            let spc = try stage.exchange(Self.asset).spc.revealed
            let reply = try await stage.license(spc, "/fairplay/ksm\(query)", members: members, type: type)
            #expect(reply.status == status)
        }
    }

    @Test(arguments: ["", "{", "[]", "{}", #"{"spc":1}"#, #"{"spc":""}"#, #"{"spc":"?"}"#, #"{"spc":"AAAA"}"#])
    func `a body without an SPC is refused`(_ body: String) async throws {
        try await withService(UplynkService.init) { stage in
            let reply = try await stage.send(
                "POST", "/fairplay/ksm?b=\(Self.asset)", ["Content-Type": "application/json"], Data(body.utf8))
            #expect(reply.status == 400)
        }
    }
}

extension ServiceStage<UplynkService> {
    fileprivate func license(
        _ spc: Data, _ path: String, members: String = "", type: String = "application/json"
    ) async throws -> Reply {
        let body = #"{"spc":"\#(spc.base64EncodedString())"\#(members)}"#
        return try await send("POST", path, ["Content-Type": type], Data(body.utf8))
    }
}
