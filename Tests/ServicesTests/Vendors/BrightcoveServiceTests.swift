import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct BrightcoveServiceTests {
    private static let id = Stage.videoKeyID

    @Test func `a customer is told where certificate and licenses are`() async throws {
        try await withService(BrightcoveService.init) { stage in
            #expect(stage.keyURI == KeyURI("skd://127.0.0.1:\(stage.port)/brightcove/\(Self.id)"))
            #expect(
                stage.service.parameters(at: "http://h/brightcove") == [
                    "certificateURL": "http://h/brightcove/license/v1/fairplay_app_cert/latchkey",
                    "licenseURL": "http://h/brightcove/fairplay_session_playback", "publisherId": "latchkey",
                    "applicationId": "latchkey-demo",
                ])
            for path in ["/fairplay_application_certificate", "/license/v1/fairplay_app_cert/42"] {
                let reply = try await stage.send("GET", path)
                #expect(reply.body == Stage.certificate)
            }
        }
    }

    @Test(arguments: [id, "skd://host/\(id)", "whatever the player writes"])
    func `JSON gets a raw CKC whatever the SPC's identifier`(_ identifier: String) async throws {
        try await withService(BrightcoveService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(["server_playback_context": exchange.spc.base64])
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/octet-stream")
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `the status may be 201`() async throws {
        try await withService(BrightcoveService.init, { $0.licenseStatus = 201 }) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(["server_playback_context": exchange.spc.base64])
            #expect(reply.status == 201)
            #expect(try stage.opensVideo(reply.body, exchange))
        }
    }

    @Test(arguments: [
        (["x-bolt-offline-license": "true", "x-bc-crt-config": "e30="], 200),
        (["x-bolt-offline-license": "true"], 400),
        (["x-bolt-offline-license": "true", "x-bc-crt-config": "?"], 400), (["x-bc-crt-config": "?"], 200),
    ])
    func `a key that is to be stored needs its rights`(_ headers: [String: String], _ status: Int) async throws {
        try await withService(BrightcoveService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(["server_playback_context": exchange.spc.base64], headers)
            #expect(reply.status == status)
            guard status == 200 else { return }
            let terms = try exchange.open(reply.body, at: stage.time).terms
            #expect((terms.validity == .persistent) == headers.keys.contains("x-bolt-offline-license"))
        }
    }

    @Test func `a name that is left out leaves a warning`() async throws {
        try await withService(BrightcoveService.init) { stage in
            let spc = try stage.exchange(Self.id).spc.base64
            let status = try await stage.license(["server_playback_context": spc, "publisher_id": nil]).status
            #expect(status == 200)
            #expect(stage.warnings == ["missingField"])
        }
    }

    @Test(arguments: [
        (["key_id": nil], 400, "BAD_REQUEST"), (["key_id": ""], 400, "BAD_REQUEST"),
        (["key_id": "nothing"], 404, "VIDEO_NOT_FOUND"), (["key_id": "audio"], 403, "VIDEO_NOT_PLAYABLE"),
        (["server_playback_context": nil], 400, "BAD_REQUEST"), (["server_playback_context": "?"], 400, "BAD_REQUEST"),
        (["server_playback_context": "AAAA"], 400, "BAD_REQUEST"), (["publisher_id": "eve"], 403, "ACCOUNT_ID"),
        (["application_id": ""], 403, "ACCOUNT_ID"),
    ])
    func `a request that is wrong in one thing`(
        _ change: [String: String?], _ status: Int, _ code: String
    ) async throws {
        try await withService(
            BrightcoveService.init,
            {
                $0.publisherID = "publisher"
                $0.applicationID = "application"
            }
        ) { stage in
            var fields: [String: String?] = [
                "publisher_id": "publisher", "application_id": "application",
                "server_playback_context": try stage.exchange(Self.id).spc.base64,
            ]
            fields.merge(change) { $1 }
            let reply = try await stage.license(fields)
            #expect(reply.status == status)
            #expect(try reply.brightcoveCode == code)
        }
    }

    @Test(arguments: [(nil, 401, "TOKEN_REQUIRED"), ("wrong", 401, "TOKEN_VALIDATION"), ("right", 200, "")])
    func `a token counts where one is configured`(_ token: String?, _ status: Int, _ code: String) async throws {
        try await withService(BrightcoveService.init, { $0.token = Secret("right") }) { stage in
            let spc = try stage.exchange(Self.id).spc.base64
            let headers = ["bcov-auth": token].compactMapValues { $0 }
            let reply = try await stage.license(["server_playback_context": spc], headers)
            #expect(reply.status == status)
            #expect(try status == 200 || reply.brightcoveCode == code)
            #expect(stage.service.demoToken() == Secret("right"))
        }
    }
}

extension Reply {
    /// The subcode, or the code of an error without.
    fileprivate var brightcoveCode: String? {
        get throws {
            let error = (try JSONSerialization.jsonObject(with: body) as? [[String: String]])?.first
            return error?["error_subcode"] ?? error?["error_code"]
        }
    }
}

extension ServiceStage<BrightcoveService> {
    /// A license request for the video key but for what is given.
    fileprivate func license(_ change: [String: String?], _ headers: [String: String] = [:]) async throws -> Reply {
        var fields: [String: String?] = ["publisher_id": "", "application_id": "", "key_id": Stage.videoKeyID]
        fields.merge(change) { $1 }
        return try await sendJSON("/fairplay_session_playback", fields.compactMapValues { $0 }, headers)
    }
}

extension ServiceStage {
    /// Posts a JSON object.
    func sendJSON(
        _ path: String, _ body: some Encodable, _ headers: [String: String] = [:]
    ) async throws -> Reply {
        let good = ["Content-Type": "application/json"]
        return try await send("POST", path, good.merging(headers) { $1 }, try JSONEncoder().encode(body))
    }
}

extension Secret {
    /// Standard base64 with padding.
    var base64: String { revealed.base64EncodedString() }
}
