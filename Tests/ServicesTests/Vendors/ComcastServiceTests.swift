import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct ComcastServiceTests {
    private static let id = Stage.videoKeyID
    private static let query = "schema=1.0&form=json&token=t0ken&account=http://data/Account/1"

    @Test func `a customer is told where certificate and licenses are`() async throws {
        try await withService(ComcastService.init) { stage in
            #expect(stage.keyURI == KeyURI("skd://FairPlay/\(Self.id)"))
            #expect(
                stage.service.parameters(at: "http://h/comcast") == [
                    "certificateURL": "http://h/comcast/fpls/web/FairPlay/certificate",
                    "licenseURL": "http://h/comcast/fpls/web/FairPlay?schema=1.0&form=json", "account": "latchkey",
                    "releasePid": "a0b1c2d3e4f5061728394a5b6c7d8e9f",
                ])
            let reply = try await stage.send("GET", "/fpls/web/FairPlay/certificate")
            #expect(reply.body == Stage.certificate)
        }
    }

    @Test(arguments: [
        ("Pid1", "skd://Pid1/\(id)"), ("Pid1", "Pid1/\(id)"), ("Pid1", "skd://host/Pid1/\(id)"), ("video", "video"),
    ])
    func `nested JSON gets nested JSON`(_ release: String, _ identifier: String) async throws {
        try await withService(ComcastService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(release, exchange.spc.base64)
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/json")
            let body = try JSONDecoder().decode([String: [String: String]].self, from: reply.body)
            let ckc = try #require(body["getFairplayLicenseResponse"]?["ckcResponse"])
            #expect(try stage.opensVideo(Data(base64Encoded: ckc), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test(arguments: [
        (query, "skd://FairPlay/\(id)", ["releasePid"]), ("form=json&token=t&account=a", "Pid1/\(id)", ["query"]),
        ("token=t&account=a", "Pid1/\(id)", ["query", "query"]),
    ])
    func `what may be let pass leaves a warning`(
        _ query: String, _ identifier: String, _ warnings: [String]
    ) async throws {
        try await withService(ComcastService.init) { stage in
            let reply = try await stage.license("Pid1", try stage.exchange(identifier).spc.base64, query: query)
            #expect(reply.status == 200)
            #expect(stage.warnings == warnings)
        }
    }

    @Test(arguments: [
        ("schema=1.0&form=json&account=acme", "Pid1", 401, "tokenMissing"),
        ("schema=1.0&form=json&token=t0ken", "Pid1", 400, "malformedRequest"),
        ("schema=1.0&form=json&token=t0ken&account=eve", "Pid1", 403, "unknownTenant"),
        ("schema=1.0&form=json&token=other&account=acme", "Pid1", 401, "tokenMalformed"),
        ("schema=1.0&form=json&token=t0ken&account=acme", "", 400, "malformedRequest"),
    ])
    func `a request that is wrong in one thing`(
        _ query: String, _ release: String, _ status: Int, _ code: String
    ) async throws {
        try await withService(ComcastService.init, { ($0.account, $0.token) = ("acme", Secret("t0ken")) }) { stage in
            let spc = try stage.exchange("Pid1/\(Self.id)").spc.base64
            let reply = try await stage.license(release, spc, query: query)
            #expect(reply.status == status)
            #expect(reply.code == code)
        }
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"getFairplayLicense":1}"#, #"{"getFairplayLicense":{"releasePid":"Pid1"}}"#,
        #"{"getFairplayLicense":{"releasePid":"Pid1","spcMessage":""}}"#,
        #"{"getFairplayLicense":{"releasePid":"Pid1","spcMessage":"?"}}"#,
    ])
    func `a body that is none is refused`(_ body: String) async throws {
        try await withService(ComcastService.init) { stage in
            let headers = ["Content-Type": "application/json"]
            let reply = try await stage.send("POST", "/fpls/web/FairPlay?\(Self.query)", headers, Data(body.utf8))
            #expect(reply.status == 400)
            #expect(reply.code == "malformedRequest")
        }
    }

    @Test func `a release and an SPC that name no key are refused`() async throws {
        try await withService(ComcastService.init) { stage in
            let reply = try await stage.license("Pid1", try stage.exchange("Pid1").spc.base64)
            #expect(reply.status == 404)
            #expect(reply.code == "unknownKey")
        }
    }
}

extension ServiceStage<ComcastService> {
    fileprivate func license(
        _ release: String, _ spc: String,
        query: String = "schema=1.0&form=json&token=t0ken&account=http://data/Account/1"
    ) async throws -> Reply {
        try await sendJSON(
            "/fpls/web/FairPlay?\(query)", ["getFairplayLicense": ["releasePid": release, "spcMessage": spc]])
    }
}
