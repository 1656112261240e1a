import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct MuxServiceTests {
    /// The video key's id, as the URI's session token.
    private static let session = "a0b1c2d3e4f5061728394a5b6c7d8e9f"

    @Test func `a customer is told where certificate and licenses are`() async throws {
        try await withService(MuxService.init) { stage in
            let query = "playbackId=latchkey-demo&token=\(Self.session)"
            #expect(stage.keyURI == KeyURI("skd://127.0.0.1:\(stage.port)/mux/?\(query)"))
            #expect(
                stage.service.parameters(at: "http://h/mux") == [
                    "certificateURL": "http://h/mux/appcert/fairplay/latchkey-demo",
                    "licenseURL": "http://h/mux/license/fairplay/latchkey-demo", "playbackId": "latchkey-demo",
                ])
        }
    }

    @Test func `the certificate is DER for a token`() async throws {
        try await withService(MuxService.init) { stage in
            let token = stage.service.demoToken().revealedText
            let reply = try await stage.send("GET", "/appcert/fairplay/latchkey-demo?token=\(token)")
            #expect(reply.status == 200)
            #expect(reply.body == Stage.certificate)
        }
    }

    @Test(arguments: [ServiceEndpoint.certificate, .license])
    func `status 200 without a body can be had at both endpoints`(_ endpoint: ServiceEndpoint) async throws {
        try await withService(MuxService.init) { stage in
            stage.service.faults.set(.emptyBody, at: endpoint)
            let (method, path) = endpoint == .license ? ("POST", "license") : ("GET", "appcert")
            let reply = try await stage.send(method, "/\(path)/fairplay/x?token=x")
            #expect(reply.status == 200)
            #expect(reply.body.isEmpty)
        }
    }

    @Test(arguments: [
        "skd://drm.mux.com/?playbackId=latchkey-demo&token=\(session)",
        "drm.mux.com/?playbackId=latchkey-demo&token=\(session)",
        "\u{0}drm.mux.com/?playbackId=latchkey-demo&token=\(session)",
    ])
    func `each of the three content identifiers gets a raw CKC`(_ identifier: String) async throws {
        try await withService(MuxService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(exchange.spc.revealed)
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/octet-stream")
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `a playback id may name the key where the URI's token does not`() async throws {
        try await withService(MuxService.init) { stage in
            let exchange = try stage.exchange("skd://h/?playbackId=video&token=opaque")
            let token = stage.service.token(claims: #"{"sub":"video"}"#).revealedText
            let reply = try await stage.license(exchange.spc.revealed, id: "video", token: token)
            #expect(try stage.opensVideo(reply.body, exchange))
        }
    }

    @Test(arguments: [
        ("latchkey-demo", nil, 400, "tokenMissing"), ("latchkey-demo", "", 400, "tokenMissing"),
        ("a%20b", "{}", 400, "malformedRequest"), ("latchkey-demo", "text", 403, "tokenMalformed"),
        ("latchkey-demo", #"{"exp":1767225600}"#, 403, "tokenExpired"),
        ("latchkey-demo", #"{"exp":null}"#, 403, "tokenMalformed"),
        ("latchkey-demo", #"{"aud":"v"}"#, 403, "notCovered"),
        ("latchkey-demo", #"{"sub":"other"}"#, 403, "notCovered"),
        ("elsewhere", #"{"sub":"elsewhere"}"#, 403, "unknownTenant"),
        ("latchkey-demo/more", "{}", 404, "There is no such path."),
        ("other", "{}", 403, "notCovered"),
    ])
    func `each refusal has its status, at both endpoints`(
        _ id: String, _ claims: String?, _ status: Int, _ code: String
    ) async throws {
        try await withService(MuxService.init, { $0.playbackID = "latchkey-demo" }) { stage in
            let token = claims.map { $0.hasPrefix("{") ? stage.service.token(claims: $0).revealedText : $0 }
            let query = token.map { "?token=\($0)" } ?? ""
            let certificate = try await stage.send("GET", "/appcert/fairplay/\(id)\(query)")
            #expect(certificate.status == status)
            let spc = try stage.exchange("skd://h/?token=\(Self.session)").spc.revealed
            let headers = ["Content-Type": "application/octet-stream"]
            let license = try await stage.send("POST", "/license/fairplay/\(id)\(query)", headers, spc)
            #expect(license.status == status)
            #expect(license.code == code)
        }
    }

    @Test(arguments: [
        ("skd://h/?playbackId=other&token=\(session)", 403, "notCovered"), ("skd://h/?token=opaque", 403, "unknownKey"),
    ])
    func `an SPC for something else is refused`(
        _ identifier: String, _ status: Int, _ code: String
    ) async throws {
        try await withService(MuxService.init) { stage in
            let reply = try await stage.license(try stage.exchange(identifier).spc.revealed)
            #expect(reply.status == status)
            #expect(reply.code == code)
        }
    }

    @Test func `an asset that is not ready is 412`() async throws {
        try await withService(MuxService.init, { $0.preparing = ["latchkey-demo"] }) { stage in
            let reply = try await stage.license(try stage.exchange("x?token=\(Self.session)").spc.revealed)
            #expect(reply.status == 412)
            #expect(reply.code == "notReady")
        }
    }

    @Test func `with a signing key only its signature counts`() async throws {
        try await withService(MuxService.init, { $0.signingKey = Secret("a key of the customer's") }) { stage in
            let exchange = try stage.exchange("x?token=\(Self.session)")
            let good = try await stage.license(exchange.spc.revealed)
            #expect(try stage.opensVideo(good.body, exchange))
            let unsigned = jwt(#"{"sub":"latchkey-demo","aud":"d","exp":1767225601}"#)
            let reply = try await stage.license(exchange.spc.revealed, token: unsigned)
            #expect(reply.status == 403)
            #expect(reply.code == "tokenSignature")
        }
    }

    @Test(arguments: [
        (
            #"{"offline":true,"licenseExpiration":86400,"playDuration":3600}"#,
            LicenseTerms(.dualExpiry(storage: .seconds(86_400), playback: .seconds(3_600)))
        ),
        (#"{"offline":true,"licenseExpiration":600}"#, LicenseTerms(.persistentFor(.seconds(600)))),
        (#"{"offline":true}"#, LicenseTerms(.persistent)),
        (#"{"offline":false,"licenseExpiration":600}"#, LicenseTerms(.unlimited)),
    ])
    func `an offline token reaches the device`(_ claims: String, _ terms: LicenseTerms) async throws {
        try await withService(MuxService.init) { stage in
            let exchange = try stage.exchange("x?token=\(Self.session)")
            let token = stage.service.token(claims: claims).revealedText
            let reply = try await stage.license(exchange.spc.revealed, token: token)
            #expect(try exchange.open(reply.body, at: stage.time).terms == terms)
        }
    }
}

extension ServiceStage<MuxService> {
    fileprivate func license(_ spc: Data, id: String = "latchkey-demo", token: String? = nil) async throws -> Reply {
        let token = token ?? service.demoToken().revealedText
        let headers = ["Content-Type": "application/octet-stream"]
        return try await send("POST", "/license/fairplay/\(id)?token=\(token)", headers, spc)
    }
}
