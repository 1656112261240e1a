import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct VuDRMServiceTests {
    // MARK: Certificate

    @Test(arguments: [[:], ["x-vudrm-token": Stage.vuToken], ["Content-Type": "application/json"]])
    func `the certificate is DER, with and without a token`(_ headers: [String: String]) async throws {
        try await withStage { stage in
            let reply = try await stage.send("GET", "/vudrm/certificate/demo-client", headers)
            #expect(reply.status == 200)
            #expect(reply.body == Stage.credentials.credential.certificate.der)
            #expect(reply.headers["x-request-id"]?.isEmpty == false)
        }
    }

    @Test(arguments: [
        ("GET", "/vudrm/certificate/demo-client", ["x-vudrm-token": "a|b"], 401),
        ("GET", "/vudrm/certificate/other", [:], 404), ("GET", "/vudrm/certificate", [:], 404),
        ("POST", "/vudrm/certificate/demo-client", [:], 405),
    ])
    func `a certificate request that is wrong`(
        _ method: String, _ path: String, _ headers: [String: String], _ status: Int
    ) async throws {
        try await withStage { stage in
            let reply = try await stage.send(method, path, headers)
            #expect(reply.status == status)
            #expect(reply.headers["allow"] == (status == 405 ? "GET, HEAD" : nil))
        }
    }

    // MARK: License

    @Test(arguments: [
        ("/vudrm/license/video", "skd://fairplay-license.vudrm.tech/license/video"), ("/license/video", "video"),
        ("/vudrm/v2/license/video", "skd://fairplay-license.vudrm.tech/v2/license/video"), ("/license", "video"),
    ])
    func `the JSON dialect gets a raw CKC`(_ path: String, _ contentIdentifier: String) async throws {
        try await withStage { stage in
            let exchange = try stage.exchange(contentIdentifier)
            let spc = exchange.spc.revealed.base64EncodedString().replacing("/", with: #"\/"#)
            let body = #"{"token":"\#(Stage.vuToken)","contentId":"video","payload":"\#(spc)"}"#
            let reply = try await stage.send("POST", path, ["Content-Type": "application/json"], Data(body.utf8))
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/octet-stream")
            #expect(try exchange.open(reply.body, at: stage.time).contentKey == Stage.videoKey)
            #expect(stage.vuDRM.warnings.isEmpty)
        }
    }

    @Test(arguments: [
        ("/vudrm/license/video", "application/octet-stream", []), ("/v2/license/video", "application/octet-stream", []),
        ("/license/video", "arraybuffer", ["contentType"]), ("/license/video", "ArrayBuffer", ["contentType"]),
    ])
    func `the raw dialect gets a raw CKC`(_ path: String, _ type: String, _ warnings: [String]) async throws {
        try await withStage { stage in
            let exchange = try stage.exchange("video")
            let headers = ["Content-Type": type, "X-VUDRM-Token": Stage.vuToken]
            let reply = try await stage.send("POST", path, headers, exchange.spc.revealed)
            #expect(reply.status == 200)
            #expect(try exchange.open(reply.body, at: stage.time).contentKey == Stage.videoKey)
            #expect(stage.vuDRM.warnings.map(\.code) == warnings)
        }
    }

    @Test(arguments: [(299, ["renewal"]), (300, [])])
    func `a renewal that comes sooner than the vendor's SDK allows is taken with a warning`(
        _ seconds: Int, _ warnings: [String]
    ) async throws {
        try await withStage(vuDRM: { $0.shortestRenewal = .seconds(300) }) { stage in
            let session = PlaybackSessionID(rawValue: 1)
            for options in [SPCOptions.renewing(in: session), .renewing(in: PlaybackSessionID(rawValue: 2))] {
                try await stage.takeLicense(options)
            }
            #expect(stage.vuDRM.warnings.isEmpty)
            stage.time.advance(by: .seconds(seconds))
            try await stage.takeLicense(.renewing(in: session))
            #expect(stage.vuDRM.warnings.map(\.code) == warnings)
        }
    }

    @Test func `a first license is no renewal, however soon it comes`() async throws {
        try await withStage(vuDRM: { $0.shortestRenewal = .seconds(300) }) { stage in
            var options = SPCOptions()
            options.playbackSession = PlaybackSessionID(rawValue: 1)
            for _ in 0..<2 { try await stage.takeLicense(options) }
            #expect(stage.vuDRM.warnings.isEmpty)
        }
    }

    @Test func `a payload in URL-safe base64 is taken with a warning`() async throws {
        try await withStage { stage in
            let exchange = try stage.exchange("video")
            let spc = exchange.spc.revealed.base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            let reply = try await stage.sendJSON(["contentId": "video", "payload": spc])
            #expect(reply.status == 200)
            #expect(stage.vuDRM.warnings.map(\.code) == ["base64"])
            #expect(stage.vuDRM.warnings.first?.requestID == reply.headers["x-request-id"])
        }
    }

    @Test(arguments: [
        (["contentId": "audio"], 400, "malformedRequest"), (["contentId": "no such"], 400, "malformedRequest"),
        (["token": ""], 401, "tokenMissing"), (["token": nil], 401, "tokenMissing"),
        (["token": "only|three|parts"], 401, "tokenMalformed"), (["payload": nil], 400, "malformedRequest"),
        (["payload": "?"], 400, "malformedRequest"), (["payload": "AAAA"], 400, "malformedContainer"),
        (["payload": ""], 400, "malformedRequest"), (["contentId": nil], 400, "malformedRequest"),
    ])
    func `a JSON request that is wrong in one thing`(
        _ change: [String: String?], _ status: Int, _ code: String
    ) async throws {
        try await withStage { stage in
            let spc = try stage.exchange("video").spc.revealed.base64EncodedString()
            var fields: [String: String?] = ["token": Stage.vuToken, "contentId": "video", "payload": spc]
            fields.merge(change) { $1 }
            let body = try JSONEncoder().encode(fields.compactMapValues { $0 })
            let reply = try await stage.send(
                "POST", "/vudrm/license/video", ["Content-Type": "application/json"], body)
            #expect(reply.status == status)
            #expect(reply.code == code)
            #expect(reply.headers["x-request-id"]?.isEmpty == false)
        }
    }

    @Test(arguments: ["", "[]", "{", "null", "\"\"", String(repeating: "[", count: 100_000)])
    func `a body that is no JSON object is refused`(_ body: String) async throws {
        try await withStage { stage in
            let headers = ["Content-Type": "application/json"]
            let reply = try await stage.send("POST", "/vudrm/license/video", headers, Data(body.utf8))
            #expect(reply.status == 400)
            #expect(reply.code == "malformedRequest")
        }
    }

    @Test(arguments: [
        ("GET", "/vudrm/license/video", "application/octet-stream", Stage.vuToken, "video", 405),
        ("POST", "/vudrm/license/video", "text/plain", Stage.vuToken, "video", 415),
        ("POST", "/vudrm/license/video", "application/octet-stream", nil, "video", 401),
        ("POST", "/vudrm/license", "application/octet-stream", Stage.vuToken, "video", 400),
        ("POST", "/vudrm/license/nothing", "application/octet-stream", Stage.vuToken, "nothing", 404),
        ("POST", "/vudrm/license/audio", "application/octet-stream", Stage.vuToken, "video", 403),
        ("POST", "/vudrm/license/a/b", "application/octet-stream", Stage.vuToken, "video", 404),
        ("POST", "/vudrm/license/v%C3%AFdeo", "application/octet-stream", Stage.vuToken, "video", 400),
    ])
    func `a raw request that is wrong in one thing`(
        _ method: String, _ path: String, _ type: String, _ token: String?, _ identifier: String, _ status: Int
    ) async throws {
        try await withStage { stage in
            let spc = try stage.exchange(identifier).spc.revealed
            let headers = ["Content-Type": type, "x-vudrm-token": token].compactMapValues { $0 }
            let reply = try await stage.send(method, path, headers, method == "GET" ? nil : spc)
            #expect(reply.status == status)
            #expect(!String(decoding: reply.body, as: UTF8.self).contains(Stage.vuToken))
        }
    }

    @Test func `without a client of its own the service gives the certificate to any`() async throws {
        try await withStage(vuDRM: { $0.client = nil }) { stage in
            let status200 = try await stage.send("GET", "/vudrm/certificate/somebody").status
            #expect(status200 == 200)
            let status404 = try await stage.send("GET", "/vudrm/certificate/somebody/else").status
            #expect(status404 == 404)
        }
    }

    @Test func `every request id is another`() async throws {
        try await withStage { stage in
            let one = try await stage.send("GET", "/vudrm/certificate/demo-client").headers["x-request-id"]
            let other = try await stage.send("GET", "/vudrm/certificate/demo-client").headers["x-request-id"]
            #expect(one != other)
        }
    }
}

extension Stage {
    /// A license request in the JSON dialect with a good token, unless the fields have another.
    func sendJSON(_ fields: [String: String]) async throws -> Reply {
        let body = try JSONEncoder().encode(["token": Stage.vuToken].merging(fields) { $1 })
        return try await send("POST", "/vudrm/license/video", ["Content-Type": "application/json"], body)
    }
}

extension Stage {
    /// Asks for the video's key in the raw dialect.
    fileprivate func takeLicense(_ options: SPCOptions) async throws {
        var generator = SystemRandomNumberGenerator()
        let exchange = try device.exchange(for: "video", options: options, using: &generator)
        let headers = ["Content-Type": "application/octet-stream", "x-vudrm-token": Self.vuToken]
        let reply = try await send("POST", "/vudrm/license/video", headers, exchange.spc.revealed)
        #expect(reply.status == 200)
    }
}
