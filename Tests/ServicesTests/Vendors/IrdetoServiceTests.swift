import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct IrdetoServiceTests {
    private static let id = Stage.videoKeyID
    private static let audioID = "f1e2d3c4-b5a6-9788-7766-554433221100"
    private static let path = "/licenseServer/streaming/v1/ACME"

    @Test(arguments: [
        ("?applicationId=player", 200), ("?ApplicationID=player", 200), ("?applicationId=other", 403), ("", 400),
    ])
    func `the certificate is DER for an application`(_ query: String, _ status: Int) async throws {
        try await withService(IrdetoService.init, { $0.applicationID = "player" }) { stage in
            let reply = try await stage.send("GET", "\(Self.path)/getcertificate\(query)")
            #expect(reply.status == status)
            #expect((reply.body == Stage.certificate) == (status == 200))
        }
    }

    @Test func `a customer is told where certificate and licenses are`() async throws {
        try await withService(IrdetoService.init) { stage in
            let path = "irdeto/licenseServer/streaming/v1/DEMO"
            let query = "contentId=\(Self.id)&keyId=\(Self.id)"
            #expect(stage.keyURI == KeyURI("skd://127.0.0.1:\(stage.port)/\(path)/getckc?\(query)"))
            #expect(
                stage.service.parameters(at: "http://h/irdeto") == [
                    "certificateURL": "http://h/\(path)/getcertificate?applicationId=latchkey",
                    "licenseURL": "http://h/\(path)/getckc", "applicationId": "latchkey",
                ])
        }
    }

    @Test(arguments: [
        ("contentId=film&keyId=\(id)", "film"), ("ContentId=film&KeyId=\(id)", "film"),
        ("contentId=film&keyId=\(id)", "skd://t.ott.irdeto.com/v1/ACME/getckc?ContentId=film&KeyId=\(id)"),
        ("contentId=video", "video"), ("contentId=video", "skd://t.ott.irdeto.com/v1/ACME/getckc?contentId=video"),
        ("keyId=\(id)", id),
    ])
    func `a raw request gets a raw CKC`(_ query: String, _ identifier: String) async throws {
        try await withService(IrdetoService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(query, exchange.spc.revealed)
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/octet-stream")
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `a form's content type passes with a warning`() async throws {
        try await withService(IrdetoService.init) { stage in
            let spc = try stage.exchange("film").spc.revealed
            let reply = try await stage.send("POST", "\(Self.path)/getckc?contentId=film&keyId=\(Self.id)", [:], spc)
            #expect(reply.status == 200)
            #expect(stage.warnings == ["contentType"])
        }
    }

    @Test(arguments: [
        ("", [:], 400, "malformedRequest"), ("contentId=", [:], 400, "malformedRequest"),
        ("keyId=video", [:], 400, "malformedRequest"), ("contentId=nothing", [:], 404, "unknownKey"),
        ("contentId=film&keyId=00000000-0000-0000-0000-000000000001", [:], 404, "unknownKey"),
        ("contentId=film&keyId=\(audioID)", [:], 403, "contentMismatch"),
        ("keyId=\(id)", ["Content-Type": "text/plain"], 415, "mediaType"),
        ("keyId=\(id)", ["Authorization": "Basic x"], 401, "tokenMalformed"),
        ("keyId=\(id)", ["Authorization": "Bearer x"], 401, "tokenMalformed"),
    ])
    func `a request that is wrong in one thing`(
        _ query: String, _ headers: [String: String], _ status: Int, _ code: String
    ) async throws {
        try await withService(IrdetoService.init) { stage in
            let spc = try stage.exchange("skd://h/getckc?contentId=film&keyId=\(Self.id)").spc.revealed
            let reply = try await stage.license(query, spc, headers)
            #expect(reply.status == status)
            #expect(reply.code == code)
        }
    }

    @Test(arguments: [
        ("/licenseServer/streaming/v1/OTHER/getckc", "POST", 404), ("/getckc", "POST", 404),
        ("\(path)/getckc/more", "POST", 404), ("\(path)/getckc?keyId=\(id)", "GET", 405),
    ])
    func `another customer and other paths`(_ path: String, _ method: String, _ status: Int) async throws {
        try await withService(IrdetoService.init, { $0.customer = "ACME" }) { stage in
            let reply = try await stage.send(method, path, [:], method == "GET" ? nil : Data([0]))
            #expect(reply.status == status)
        }
    }

    @Test(arguments: [("{}", 200, ""), (#"{"exp":1767225600}"#, 401, "tokenExpired")])
    func `a token may be needed`(_ claims: String, _ status: Int, _ code: String) async throws {
        try await withService(
            IrdetoService.init,
            {
                $0.requiresToken = true
                $0.signingKey = Secret("a key of the customer's")
            }
        ) { stage in
            let spc = try stage.exchange(Self.id).spc.revealed
            let token = stage.service.token(claims: claims).revealedText
            let reply = try await stage.license("keyId=\(Self.id)", spc, ["Authorization": "Bearer \(token)"])
            #expect(reply.status == status)
            #expect(status == 200 || reply.code == code)
            let missing = try await stage.license("keyId=\(Self.id)", spc)
            #expect(missing.code == "tokenMissing")
            let unsigned = try await stage.license("keyId=\(Self.id)", spc, ["Authorization": "Bearer \(jwt(claims))"])
            #expect(unsigned.code == "tokenSignature")
        }
    }
}

extension ServiceStage<IrdetoService> {
    fileprivate func license(_ query: String, _ spc: Data, _ headers: [String: String] = [:]) async throws -> Reply {
        let good = ["Content-Type": "application/octet-stream"]
        let path = "/licenseServer/streaming/v1/ACME/getckc?\(query)"
        return try await send("POST", path, good.merging(headers) { $1 }, spc)
    }
}
