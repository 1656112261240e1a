import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ExpressPlayServiceTests {
    private static let id = Stage.videoKeyID

    @Test func `a key URI is the same in every playlist, until half of its token's time is over`() throws {
        let time = ManualTimekeeper()
        let authority = try Stage.authority()
        let service = ExpressPlayService(ServiceEnvironment(authority: authority, time: time))
        let key = try #require(authority.keys.keys.first)
        let first = service.keyURI(for: key, at: "a.example")
        time.advance(by: .seconds(60))
        #expect(service.keyURI(for: key, at: "a.example") == first)
        time.advance(by: .seconds(15 * 86_400))
        #expect(service.keyURI(for: key, at: "a.example") != first)
    }

    @Test func `the certificate comes from its URL and with the parameters`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            let reply = try await stage.send("GET", "/expressplay/fairplay.cer")
            #expect(reply.body == Stage.certificate)
            let parameters = stage.service.parameters(at: "https://h/expressplay")
            #expect(parameters["certificate"] == Stage.certificate.base64EncodedString())
            #expect(parameters["entitlementURL"] == "https://h/expressplay/sees/SEESServlet?scheme=https")
        }
    }

    // MARK: Direct

    @Test(arguments: ["127.0.0.1", id, "anything"])
    func `the key URI with another scheme is the license URL, whatever the SPC names`(
        _ identifier: String
    ) async throws {
        try await withService(ExpressPlayService.init) { stage in
            #expect(stage.keyURI.host == "127.0.0.1:\(stage.port)")
            #expect(stage.keyURI.queryValue("ExpressPlayToken")?.count == 59)
            #expect(stage.keyURI.remainder.utf8.count <= 200)
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(stage.keyURI.query ?? "", exchange.spc.revealed)
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test(arguments: [("", "-2017"), ("ExpressPlayToken=", "-2017"), ("ExpressPlayToken=AAAA", "-2018")])
    func `a token that is none is refused as page or JSON`(_ query: String, _ code: String) async throws {
        try await withService(ExpressPlayService.init) { stage in
            let spc = try stage.exchange(Self.id).spc.revealed
            let page = try await stage.license(query, spc)
            #expect(page.status == 401)
            #expect(page.headers["content-type"] == "text/html")
            #expect(page.text.contains(code))
            let json = try await stage.license("\(query)&errorFormat=json", spc)
            #expect(try json.member("errorCode") == code)
        }
    }

    @Test func `a token with one bit changed, or of another service, is refused`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            let spc = try stage.exchange(Self.id).spc.revealed
            let token = try #require(stage.keyURI.queryValue("ExpressPlayToken"))
            let changed = (token.first == "A" ? "B" : "A") + token.dropFirst()
            let foreign = ExpressPlayService(stage.service.environment).token(for: try #require(KeyID(Self.id)))
            for bad in [changed, foreign.revealedText] {
                let reply = try await stage.license("errorFormat=json&ExpressPlayToken=\(bad)", spc)
                #expect(try reply.member("errorCode") == "-2018")
            }
        }
    }

    @Test func `a token lasts as long as it says, and its rental reaches the device`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            let id = try #require(KeyID(Self.id))
            let token = stage.service.token(for: id, lifetime: .seconds(60), rental: .seconds(500)).revealedText
            let exchange = try stage.exchange(Self.id)
            let query = "errorFormat=json&ExpressPlayToken=\(token)"
            let reply = try await stage.license(query, exchange.spc.revealed)
            #expect(try exchange.open(reply.body, at: stage.time).terms == LicenseTerms(.rental(.seconds(500))))
            stage.time.advance(by: .seconds(60))
            let late = try await stage.license(query, exchange.spc.revealed)
            #expect(late.status == 401)
            #expect(try late.member("errorCode") == "-4010")
        }
    }

    @Test(arguments: [("-6006", 401), ("-6009", 400), ("-2019", 400)])
    func `what only the vendor knows is set by the fault switch`(_ code: String, _ status: Int) async throws {
        try await withService(ExpressPlayService.init) { stage in
            stage.service.faults.set(.refusal(code: code, status: status), at: .license)
            let reply = try await stage.license("errorFormat=json", Data())
            #expect(reply.status == status)
            #expect(try reply.member("errorCode") == code)
        }
    }

    @Test func `a body that is no SPC is refused`() async throws {
        try await withService(ExpressPlayService.init) { stage in
            let reply = try await stage.license("errorFormat=json&\(stage.keyURI.query ?? "")", Data(count: 50))
            #expect(reply.status == 400)
            #expect(try reply.member("errorCode") == "-6004")
        }
    }

    // MARK: Token service

    @Test(arguments: [
        "kid=a0b1c2d3e4f5061728394a5b6c7d8e9f", "kid=^video", "contentKey=00112233445566778899aabbccddeeff",
        "kid=^video&expirationTime=%2B60&rentalDuration=500", "kid=^video&expirationTime=2026-01-02T00:00:00Z",
    ])
    func `the token service gives a license URL`(_ query: String) async throws {
        try await withService(ExpressPlayService.init) { stage in
            let query = query.replacing("^", with: "%5E")
            let reply = try await stage.send("GET", "/hms/fp/token?customerAuthenticator=1,x&\(query)")
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "text/uri-list")
            let start = "http://127.0.0.1:\(stage.port)/expressplay/hms/fp/rights/?"
            #expect(reply.text.hasPrefix(start + "ExpressPlayToken="))
            let exchange = try stage.exchange(Self.id)
            let license = try await stage.license(String(reply.text.dropFirst(start.count)), exchange.spc.revealed)
            #expect(try stage.opensVideo(license.body, exchange))
        }
    }

    @Test(arguments: [
        ("kid=%5Evideo", 401, "-2017"), ("customerAuthenticator=x&kid=%5Enothing", 400, "-4018"),
        ("customerAuthenticator=x", 400, "-2027"), ("customerAuthenticator=x&contentKey=00", 400, "-2027"),
        ("customerAuthenticator=x&contentKey=00000000000000000000000000000000", 400, "-2005"),
        ("customerAuthenticator=x&kid=%5Evideo&expirationTime=soon", 400, "-2002"),
        ("customerAuthenticator=x&kid=%5Evideo&expirationTime=%2B2592001", 400, "-2002"),
        ("customerAuthenticator=x&kid=%5Evideo&rentalDuration=0", 400, "-6007"),
        ("customerAuthenticator=bad&kid=%5Evideo", 401, "-2018"),
    ])
    func `the token service numbers its errors`(_ query: String, _ status: Int, _ code: String) async throws {
        try await withService(ExpressPlayService.init, { $0.customerAuthenticator = Secret("x") }) { stage in
            let reply = try await stage.send("GET", "/hms/fp/token?errorFormat=json&\(query)")
            #expect(reply.status == status)
            #expect(try reply.member("errorCode") == code)
        }
    }

    // MARK: On-premise

    @Test(arguments: [
        ("?cid=\(id)", "\(id)"), ("", id), ("", "cid=\(id)"), ("", "host/path?cid=\(id)"), ("", "skd://demo/video"),
    ])
    func `the on-premise server takes the key from URL or SPC`(_ query: String, _ identifier: String) async throws {
        try await withService(ExpressPlayService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.send(
                "POST", "/on-premise/license\(query)", ["Content-Type": "application/octet-stream"],
                exchange.spc.revealed)
            #expect(try stage.opensVideo(reply.body, exchange))
        }
    }

    @Test(arguments: [("", "nothing", 400), ("?cid=f1e2d3c4-b5a6-9788-7766-554433221100", id, 401)])
    func `the on-premise server refuses other keys`(
        _ query: String, _ identifier: String, _ status: Int
    ) async throws {
        try await withService(ExpressPlayService.init) { stage in
            let reply = try await stage.send(
                "POST", "/on-premise/license\(query)", [:], try stage.exchange(identifier).spc.revealed)
            #expect(reply.status == status)
        }
    }
}

extension ServiceStage<ExpressPlayService> {
    fileprivate func license(_ query: String, _ spc: Data) async throws -> Reply {
        try await send("POST", "/hms/fp/rights/?\(query)", ["Content-Type": "application/octet-stream"], spc)
    }
}
