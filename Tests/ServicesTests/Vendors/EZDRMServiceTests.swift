import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct EZDRMServiceTests {
    private static let id = Stage.videoKeyID

    @Test func `the certificate is a static file in DER`() async throws {
        try await withService(EZDRMService.init) { stage in
            let reply = try await stage.send(
                "GET", "/demo/video/eleisure.cer", ["Content-Type": "application/octet-stream"])
            #expect(reply.body == Stage.certificate)
            let other = try await stage.send("GET", "/demo/video/other.cer")
            #expect(other.status == 404)
        }
    }

    @Test(arguments: [
        id, "skd://fps.ezdrm.com/;\(id)", ";\(id)", "fps.ezdrm.com/;\(id)", "skd://\(id)",
        "skd://fps.ezdrm.com/;\(id)?x=1;y=2", "skd://\(id)#a;b",
    ])
    func `every spelling of the content identifier gets a raw CKC`(_ identifier: String) async throws {
        try await withService(EZDRMService.init) { stage in
            #expect(stage.keyURI.raw == "skd://127.0.0.1:\(stage.port)/ezdrm/;\(Self.id)")
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(exchange.spc.revealed, "/\(Self.id)")
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/octet-stream")
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test(arguments: [
        ("/;\(id)", ["semicolon"]), ("/%3B\(id)", ["semicolon"]), ("", ["assetInSPC"]), ("/", ["assetInSPC"]),
        ("/\(id.uppercased())?customdata=x", []),
    ])
    func `other spellings of the URL`(_ path: String, _ warnings: [String]) async throws {
        try await withService(EZDRMService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(exchange.spc.revealed, path)
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings == warnings)
        }
    }

    @Test(arguments: [
        ("/video", 400, "malformedRequest"), ("/00000000-0000-0000-0000-000000000001", 404, "unknownKey"),
        ("/f1e2d3c4-b5a6-9788-7766-554433221100", 403, "contentMismatch"),
    ])
    func `another asset in the URL is refused`(_ path: String, _ status: Int, _ code: String) async throws {
        try await withService(EZDRMService.init) { stage in
            let reply = try await stage.license(try stage.exchange(Self.id).spc.revealed, path)
            #expect(reply.status == status)
            #expect(reply.code == code)
        }
    }

    @Test(arguments: [("?customdata=good", 200), ("?customdata=bad", 403), ("", 401), ("?customdata=", 401)])
    func `the customer's callback decides where there is one`(_ query: String, _ status: Int) async throws {
        try await withService(EZDRMService.init, { $0.customData = Secret("good") }) { stage in
            let reply = try await stage.license(try stage.exchange(Self.id).spc.revealed, "/\(Self.id)\(query)")
            #expect(reply.status == status)
            #expect(stage.service.demoToken().revealedText == "good")
        }
    }

    @Test(arguments: [(Data(), "malformedRequest"), (Data(count: 99), "unsupportedVersion")])
    func `a body that is no SPC is refused`(_ body: Data, _ code: String) async throws {
        try await withService(EZDRMService.init) { stage in
            let reply = try await stage.license(body, "/\(Self.id)")
            #expect(reply.status == 400)
            #expect(reply.code == code)
        }
    }
}

extension ServiceStage<EZDRMService> {
    fileprivate func license(_ spc: Data, _ path: String) async throws -> Reply {
        try await send("POST", "/api/licenses\(path)", ["Content-Type": "application/octet-stream"], spc)
    }
}
