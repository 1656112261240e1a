import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct AnvatoServiceTests {
    private static let id = Stage.videoKeyID

    @Test func `a customer is told where certificate and licenses are`() async throws {
        try await withService(AnvatoService.init) { stage in
            #expect(stage.keyURI == KeyURI("skd://\(Self.id)"))
            #expect(
                stage.service.parameters(at: "http://h/anvato") == [
                    "certificateURL": "http://h/anvato/rest/fairplay/certificate",
                    "licenseURL": "http://h/anvato/rest/fairplay/license",
                ])
            let reply = try await stage.send("GET", "/rest/fairplay/certificate")
            #expect(reply.body == Stage.certificate)
        }
    }

    @Test func `JSON gets the CKC as base64 in JSON`() async throws {
        try await withService(AnvatoService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(["spc": exchange.spc.base64, "assetid": Self.id])
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.payload("ckc"), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test(arguments: [
        (["assetid": nil], 400, "INVALID_ARGUMENT"), (["spc": nil], 400, "INVALID_ARGUMENT"),
        (["spc": "?"], 400, "INVALID_ARGUMENT"), (["spc": "AAAA"], 400, "INVALID_ARGUMENT"),
        (["assetid": "nothing"], 404, "NOT_FOUND"), (["assetid": "audio"], 403, "PERMISSION_DENIED"),
    ])
    func `a refusal has code, status and a DRM code in its message`(
        _ change: [String: String?], _ status: Int, _ name: String
    ) async throws {
        try await withService(AnvatoService.init) { stage in
            var fields: [String: String?] = ["spc": try stage.exchange(Self.id).spc.base64, "assetid": Self.id]
            fields.merge(change) { $1 }
            let reply = try await stage.license(fields.compactMapValues { $0 })
            #expect(reply.status == status)
            let error = try reply.error
            #expect(error.code == status)
            #expect(error.status == name)
            #expect(error.message.contains(" drmErrorCode: \(status) "))
        }
    }

    @Test func `the switch makes it refuse with a DRM code`() async throws {
        try await withService(AnvatoService.init) { stage in
            stage.service.faults.set(.refusal(code: "4711", status: 503), at: .license)
            let reply = try await stage.license([:])
            #expect(reply.status == 503)
            let error = try reply.error
            #expect(error.status == "UNAVAILABLE")
            #expect(error.message == "The service was told to refuse. drmErrorCode: 4711 ")
        }
    }
}

extension ServiceStage<AnvatoService> {
    fileprivate func license(_ fields: [String: String]) async throws -> Reply {
        try await sendJSON("/rest/fairplay/license", fields)
    }
}

extension Reply {
    fileprivate struct AnvatoError: Decodable {
        let code: Int
        let status: String
        let message: String
    }

    fileprivate var error: AnvatoError {
        get throws {
            try #require(try JSONDecoder().decode([String: AnvatoError].self, from: body)["error"])
        }
    }
}
