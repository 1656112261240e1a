import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct JWPlatformServiceTests {
    @Test func `a customer is told the delivery address`() async throws {
        try await withService(JWPlatformService.init) { stage in
            #expect(stage.keyURI == KeyURI("skd://\(Stage.videoKeyID)"))
            let parameters = stage.service.parameters(at: "http://h/jw-platform")
            #expect(parameters == ["deliveryURL": "http://h/jw-platform/v2/media/latchkey/drm/latchkey"])
            let secure = stage.service.parameters(at: "https://h/jw-platform")["deliveryURL"]
            #expect(secure == "https://h/jw-platform/v2/media/latchkey/drm/latchkey?scheme=https")
        }
    }

    @Test func `the delivery document names playlist, certificate and license address`() async throws {
        try await withService(JWPlatformService.init) { stage in
            let source = try await stage.delivery()
            let base = "http://127.0.0.1:\(stage.port)"
            #expect(source.file == "\(base)/media/jw-platform/ts/master.m3u8")
            let addresses = try #require(source.drm?.fairplay)
            #expect(addresses.certificateUrl == "\(base)/jw-platform/fairplay/application-certificate")
            #expect(addresses.processSpcUrl.hasPrefix("\(base)/jw-platform/fairplay/process-spc?token="))
            let certificate = try await stage.send("GET", stage.path(addresses.certificateUrl))
            #expect(certificate.body == Stage.certificate)
        }
    }

    @Test func `under TLS the addresses are https`() async throws {
        try await withService(JWPlatformService.init) { stage in
            let source = try await stage.delivery(query: "&scheme=https")
            #expect(source.file.hasPrefix("https://127.0.0.1:\(stage.port)/"))
            #expect(source.drm?.fairplay.processSpcUrl.hasPrefix("https://") == true)
        }
    }

    @Test(arguments: [("any", "the constant of the sample"), ("audio", Stage.videoKeyID), ("video", "placeholder")])
    func `a signed address gets a raw CKC`(_ medium: String, _ identifier: String) async throws {
        try await withService(JWPlatformService.init) { stage in
            let address = try #require(try await stage.delivery(medium).drm?.fairplay.processSpcUrl)
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(address, exchange.spc.revealed)
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/octet-stream")
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `the medium decides about the key of a constant identifier`() async throws {
        try await withService(JWPlatformService.init) { stage in
            let address = try #require(try await stage.delivery("audio").drm?.fairplay.processSpcUrl)
            let exchange = try stage.exchange("placeholder")
            let reply = try await stage.license(address, exchange.spc.revealed)
            #expect(try exchange.open(reply.body, at: stage.time).contentKey != Stage.videoKey)
        }
    }

    @Test func `an address is good for ten minutes and only as signed`() async throws {
        try await withService(JWPlatformService.init) { stage in
            let address = try #require(try await stage.delivery().drm?.fairplay.processSpcUrl)
            let spc = try stage.exchange("placeholder").spc.revealed
            stage.time.advance(by: .seconds(599))
            let good = try await stage.license(address, spc)
            #expect(good.status == 200)
            stage.time.advance(by: .seconds(1))
            let late = try await stage.license(address, spc)
            #expect(late.status == 401)
            #expect(late.code == "tokenExpired")
            let forged = jwt(#"{"key":"video","exp":9999999999}"#)
            let reply = try await stage.send(
                "POST", "/fairplay/process-spc?token=\(forged)", ["Content-Type": "application/octet-stream"], spc)
            #expect(reply.code == "tokenSignature")
        }
    }

    @Test(arguments: [
        ("POST", "/fairplay/process-spc", 401), ("GET", "/fairplay/process-spc", 405),
        ("GET", "/v2/media/film/drm/policy", 401), ("GET", "/v2/media/film/drm/policy?token=x", 401),
        ("GET", "/v2/media/film/drm/other?token=x", 404), ("GET", "/v2/media/other/drm/policy?token=x", 404),
        ("POST", "/v2/media/film/drm/policy?token=x", 405), ("GET", "/v2/media/film", 404),
    ])
    func `a request that is wrong in one thing`(_ method: String, _ path: String, _ status: Int) async throws {
        try await withService(JWPlatformService.init, { ($0.mediaID, $0.policyID) = ("film", "policy") }) { stage in
            let reply = try await stage.send(method, path, [:], method == "GET" ? nil : Data([0]))
            #expect(reply.status == status)
        }
    }

    @Test(arguments: [("{}", 200, ""), (#"{"exp":1767225600}"#, 401, "tokenExpired")])
    func `a delivery token is checked`(_ claims: String, _ status: Int, _ code: String) async throws {
        try await withService(JWPlatformService.init, { $0.signingKey = Secret("a key of the customer's") }) { stage in
            let token = stage.service.token(claims: claims).revealedText
            let reply = try await stage.send("GET", "/v2/media/film/drm/policy?token=\(token)")
            #expect(reply.status == status)
            #expect(status == 200 || reply.code == code)
            let unsigned = try await stage.send("GET", "/v2/media/film/drm/policy?token=\(jwt(claims))")
            #expect(unsigned.code == "tokenSignature")
        }
    }

    @Test func `the delivery document can fail by the switch`() async throws {
        try await withService(JWPlatformService.init) { stage in
            stage.service.faults.set(.htmlPage, at: .delivery)
            let reply = try await stage.send("GET", "/v2/media/film/drm/policy")
            #expect(reply.headers["content-type"] == "text/html; charset=utf-8")
        }
    }
}

/// The delivery document as §17 describes it.
private struct Delivery: Decodable {
    struct Item: Decodable { let sources: [Source] }
    struct Source: Decodable {
        let file: String
        let drm: DRM?
    }
    struct DRM: Decodable { let fairplay: FairPlay }
    struct FairPlay: Decodable {
        let certificateUrl: String
        let processSpcUrl: String
    }
    let playlist: [Item]
}

extension ServiceStage<JWPlatformService> {
    fileprivate func delivery(_ medium: String = "film", query: String = "") async throws -> Delivery.Source {
        let token = service.demoToken().revealedText
        let reply = try await send("GET", "/v2/media/\(medium)/drm/policy?token=\(token)\(query)")
        #expect(reply.status == 200)
        #expect(reply.headers["content-type"] == "application/json")
        let document = try JSONDecoder().decode(Delivery.self, from: reply.body)
        return try #require(document.playlist.first?.sources.first)
    }

    fileprivate func license(_ address: String, _ spc: Data) async throws -> Reply {
        try await send("POST", path(address), ["Content-Type": "application/octet-stream"], spc)
    }

    /// An address of the service, without what `send` adds.
    fileprivate func path(_ address: String) -> String {
        String(address.dropFirst("http://127.0.0.1:\(port)/jw-platform".count))
    }
}
