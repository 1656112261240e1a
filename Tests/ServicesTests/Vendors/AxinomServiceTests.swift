import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

/// The clock stands at 2026-01-01T00:00:00Z.
@Suite(.timeLimit(.minutes(5))) struct AxinomServiceTests {
    private static let id = Stage.videoKeyID
    private static let iv = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    private static let communication = "69e54088-e9e0-4530-8c1a-1eb6dcd0d14e"

    private static func message(_ inline: String) -> String {
        jwt(
            #"{"version":1,"com_key_id":"\#(communication)","message":{"type":"entitlement_message","version":2,"license":{},"#
                + #""content_keys_source":{"inline":[\#(inline)]}}}"#)
    }

    @Test func `the certificate is a static file in DER, and the key URI has the IV`() async throws {
        try await withService(AxinomService.init) { stage in
            let reply = try await stage.send("GET", "/FPScert/fairplay.cer", ["X-AxDRM-Message": "x"])
            #expect(reply.body == Stage.certificate)
            #expect(stage.keyURI.raw == "skd://\(Self.id):\(Self.iv)")
        }
    }

    @Test(arguments: [
        ("\(id):\(iv)", true), ("skd://\(id):\(iv)", true), ("\(id.uppercased()):\(iv.uppercased())", false),
    ])
    func `the message in header or query gets a raw CKC`(_ identifier: String, _ isInHeader: Bool) async throws {
        try await withService(AxinomService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let token = stage.service.demoToken().revealedText
            let reply = try await stage.license(
                exchange.spc.revealed, isInHeader ? token : nil, query: isInHeader ? "" : "?X-AxDRM-Message=\(token)")
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(reply.headers["x-axdrm-identity"] == reply.headers["x-request-id"])
            #expect(reply.headers["x-axdrm-server"] != nil && reply.headers["x-axdrm-version"] != nil)
        }
    }

    @Test(arguments: [
        (#"{"id":"\#(id)"}"#, "\(id):\(iv)", 200), (#"{"id":"\#(id)","iv":"\#(iv)"}"#, id, 200),
        (#"{"id":"\#(id)","iv":"Dx4tPEtaaXiHlqW0w9Lh8A=="}"#, "\(id):00", 200), (#"{"id":"\#(id)"}"#, id, 400),
        (#"{"id":"\#(id)"}"#, "\(id):00000000000000000000000000000000", 400),
        (#"{"id":"f1e2d3c4-b5a6-9788-7766-554433221100"}"#, "\(id):\(iv)", 403), ("", "\(id):\(iv)", 403),
    ])
    func `the message has to list the key, and one of both the IV`(
        _ inline: String, _ identifier: String, _ status: Int
    ) async throws {
        try await withService(AxinomService.init) { stage in
            let spc = try stage.exchange(identifier).spc.revealed
            let reply = try await stage.license(spc, Self.message(inline))
            #expect(reply.status == status)
            #expect((reply.headers["x-axdrm-errormessage"] == nil) == (status == 200))
        }
    }

    @Test(arguments: [
        ("", "tokenMissing: "), ("x", "tokenMalformed: "),
        (jwt("{}"), "tokenMalformed: The message's version is not 1."),
        (jwt(#"{"version":1}"#), "tokenMalformed: The message's 'com_key_id' is not a GUID."),
        (
            jwt(#"{"version":1,"com_key_id":"\#(communication)"}"#),
            "tokenMalformed: The message holds no entitlement message."
        ),
        (
            jwt(
                #"{"version":1,"com_key_id":"\#(communication)","message":{"type":"entitlement_message","version":1}}"#),
            "tokenMalformed: The entitlement message's version is not 2."
        ),
    ])
    func `a message that is none is status 400, a header field and no body`(_ token: String, _ text: String)
        async throws
    {
        try await withService(AxinomService.init) { stage in
            let reply = try await stage.license(try stage.exchange("\(Self.id):\(Self.iv)").spc.revealed, token)
            #expect(reply.status == 400)
            #expect(reply.body.isEmpty)
            #expect(reply.headers["x-axdrm-errormessage"]?.hasPrefix(text) == true)
        }
    }

    @Test(arguments: [
        (#"{"begin_date":"2026-01-01T00:00:01Z"}"#, "{}", "tokenNotYetValid"),
        (#"{"expiration_date":"2026-01-01T00:00:00Z"}"#, "{}", "tokenExpired"),
        (#"{"expiration_date":"soon"}"#, "{}", "tokenMalformed"),
        ("{}", #"{"start_datetime":"2026-01-02T00:00:00Z"}"#, "tokenNotYetValid"),
        ("{}", #"{"expiration_datetime":"2025-12-31T00:00:00Z"}"#, "tokenExpired"),
        (
            #"{"begin_date":"2026-01-01T00:00:00Z","expiration_date":"2026-01-01T00:00:01Z","exp":1}"#, "{}",
            "tokenExpired"
        ),
    ])
    func `message and license have their times`(_ dates: String, _ license: String, _ code: String) async throws {
        try await withService(AxinomService.init) { stage in
            let id = try #require(KeyID(Self.id))
            let token = stage.service.message(for: [id], license: license, dates: dates).revealedText
            let reply = try await stage.license(try stage.exchange("\(Self.id):\(Self.iv)").spc.revealed, token)
            #expect(reply.status == 400)
            #expect(reply.headers["x-axdrm-errormessage"]?.hasPrefix("\(code): ") == true)
        }
    }

    @Test(arguments: [
        (#"{"allow_persistence":true}"#, LicenseTerms(.persistent)),
        (#"{"allow_persistence":true,"duration":600}"#, LicenseTerms(.persistentFor(.seconds(600)))),
        (#"{"duration":600}"#, LicenseTerms(.lease(.seconds(600)))), ("{}", LicenseTerms()),
    ])
    func `the license's terms reach the device`(_ license: String, _ terms: LicenseTerms) async throws {
        try await withService(AxinomService.init) { stage in
            let id = try #require(KeyID(Self.id))
            let exchange = try stage.exchange("\(Self.id):\(Self.iv)")
            let token = stage.service.message(for: [id], license: license).revealedText
            let reply = try await stage.license(exchange.spc.revealed, token)
            #expect(try exchange.open(reply.body, at: stage.time).terms == terms)
        }
    }

    @Test func `with a communication key only its signature counts`() async throws {
        try await withService(
            AxinomService.init,
            {
                $0.communicationKey = Secret("thirty-two bytes of signing key!")
                $0.communicationKeyID = KeyID("11111111-1111-1111-1111-111111111111")
                $0.keyURIsHaveIV = false
            }
        ) { stage in
            #expect(stage.keyURI.raw == "skd://\(Self.id)")
            let spc = try stage.exchange("\(Self.id):\(Self.iv)").spc.revealed
            let good = try await stage.license(spc, stage.service.demoToken().revealedText).status
            #expect(good == 200)
            let reply = try await stage.license(spc, Self.message(#"{"id":"\#(Self.id)"}"#))
            #expect(reply.headers["x-axdrm-errormessage"]?.hasPrefix("tokenSignature: ") == true)
        }
    }

    @Test func `a body that is no SPC is refused`() async throws {
        try await withService(AxinomService.init) { stage in
            let reply = try await stage.license(Data(count: 50), stage.service.demoToken().revealedText)
            #expect(reply.status == 400)
            #expect(reply.headers["x-axdrm-errormessage"]?.hasPrefix("unsupportedVersion: ") == true)
        }
    }
}

extension ServiceStage<AxinomService> {
    fileprivate func license(_ spc: Data, _ token: String?, query: String = "") async throws -> Reply {
        let headers = ["Content-Type": "application/octet-stream", "X-AxDRM-Message": token].compactMapValues { $0 }
        return try await send("POST", "/AcquireLicense\(query)", headers, spc)
    }
}
