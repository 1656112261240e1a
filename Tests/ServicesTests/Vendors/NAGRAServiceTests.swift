import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct NAGRAServiceTests {
    private static let id = Stage.videoKeyID
    private static let root = "/DEMO/fpls/contentlicenseservice/v1"

    @Test(arguments: [
        ("\(root)/certificates", [:], 200), ("\(root)/certificates/DEMO", [:], 200),
        ("/OTHER/fpls/contentlicenseservice/v1/certificates", [:], 200), ("\(root)/certificates/OTHER", [:], 404),
        ("/fpls/contentlicenseservice/v1/certificates", [:], 404),
        ("\(root)/certificates", ["nv-authorizations": "x"], 400),
    ])
    func `the certificate is below the tenant, in DER`(
        _ path: String, _ headers: [String: String], _ status: Int
    ) async throws {
        try await withService(NAGRAService.init) { stage in
            let reply = try await stage.send("GET", path, headers)
            #expect(reply.status == status)
            #expect((reply.body == Stage.certificate) == (status == 200))
        }
    }

    @Test func `a configured tenant is the only one`() async throws {
        try await withService(NAGRAService.init, { $0.tenant = "ACME" }) { stage in
            let other = try await stage.send("GET", "\(Self.root)/certificates").status
            #expect(other == 404)
            #expect(
                stage.service.parameters(at: "http://h/nagra") == [
                    "certificateURL": "http://h/nagra/ACME/fpls/contentlicenseservice/v1/certificates",
                    "licenseURL": "http://h/nagra/ACME/fpls/contentlicenseservice/v1/licenses",
                    "sessionURL": "http://h/nagra/ACME/ssm/v1", "tenant": "ACME", "tokenHeader": "nv-authorizations",
                ])
        }
    }

    @Test func `the key URI is JSON in base64, and decoded it gets the CKC`() async throws {
        try await withService(NAGRAService.init) { stage in
            let json = #"{"ContentId":"latchkey-demo","KeyId":"\#(Self.id)","IV":"Dx4tPEtaaXiHlqW0w9Lh8A=="}"#
            #expect(stage.keyURI.raw == "skd://\(Data(json.utf8).base64EncodedString())")
            let exchange = try stage.exchange(json)
            let reply = try await stage.license(exchange.spc.revealed, stage.service.demoToken().revealedText)
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(try reply.payload("CkcMessage"), exchange))
            #expect(try reply.member("sessionToken") == nil)
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test(arguments: [("DEMO", 200), ("OTHER", 400)])
    func `the tenant of the header has to be that of the path`(_ tenant: String, _ status: Int) async throws {
        try await withService(NAGRAService.init) { stage in
            let reply = try await stage.license(
                try stage.spc(), stage.service.demoToken().revealedText, ["nv-tenant-id": tenant])
            #expect(reply.status == status)
        }
    }

    @Test func `a blank inside a token damages it`() async throws {
        try await withService(NAGRAService.init) { stage in
            let token = stage.service.demoToken().revealedText
            let dot = try #require(token.lastIndex(of: "."))
            for place in [token.index(dot, offsetBy: 4), dot, token.index(before: token.endIndex)] {
                var damaged = token
                damaged.insert(" ", at: place)
                let status = try await stage.license(try stage.spc(), damaged).status
                #expect((400..<500).contains(status), "\(status): \(damaged)")
            }
        }
    }

    @Test func `encrypted key tokens behind the content token are let be, blanks leave a warning`() async throws {
        try await withService(NAGRAService.init) { stage in
            let tokens = "\(stage.service.demoToken().revealedText), a..b.c.d"
            let status = try await stage.license(try stage.spc(), tokens).status
            #expect(status == 200)
            #expect(stage.warnings == ["tokenSeparator"])
        }
    }

    @Test(arguments: [
        ("", 4001), ("x", 3006), (jwt("{}"), 3006),
        (jwt(#"{"typ":"ContentAuthZ","ver":"1.0","contentRights":[]}"#), 3006),
        (jwt(#"{"typ":"ContentAuthZ","ver":"2.0","contentRights":[{}]}"#), 3006),
        (jwt(#"{"typ":"Other","ver":"1.0","contentRights":[{}]}"#), 3006),
        (jwt(#"{"typ":"ContentAuthZ","ver":"1.0","exp":1,"contentRights":[{}]}"#), 4005),
        (jwt(#"{"typ":"ContentAuthZ","ver":"1.0","contentRights":[{"contentId":"other"}]}"#), 4000),
        (
            jwt(
                #"{"typ":"ContentAuthZ","ver":"1.0","contentRights":[{"contentId":"latchkey-demo","end":"2026-01-01T00:00:00Z"}]}"#
            ), 4000
        ),
        (
            jwt(
                #"{"typ":"ContentAuthZ","ver":"1.0","contentRights":[{"contentId":"latchkey-demo","start":1767225601}]}"#
            ),
            4000
        ),
    ])
    func `a content token that does not cover the content is refused`(_ token: String, _ code: Int) async throws {
        try await withService(NAGRAService.init) { stage in
            let reply = try await stage.license(try stage.spc(), token)
            #expect(reply.status == 400)
            #expect(try reply.member("errorCode") == "\(code)")
            #expect(try reply.member("message")?.isEmpty == false)
        }
    }

    @Test(arguments: [
        (#"{"contentId":"latchkey-demo","storable":true}"#, LicenseTerms(.persistent)),
        (#"{"contentId":"latchkey-demo","storable":true,"duration":600}"#, LicenseTerms(.persistentFor(.seconds(600)))),
        (#"{"contentId":"latchkey-demo","storable":false}"#, LicenseTerms()),
    ])
    func `what may be stored says the token`(_ right: String, _ terms: LicenseTerms) async throws {
        try await withService(NAGRAService.init) { stage in
            let exchange = try stage.exchange(stage.identifier)
            let token = stage.service.contentToken(claims: #"{"contentRights":[\#(right)]}"#).revealedText
            let ckc = try await stage.license(exchange.spc.revealed, token).payload("CkcMessage")
            #expect(try exchange.open(try #require(ckc), at: stage.time).terms == terms)
        }
    }

    @Test(arguments: ["{}", "nothing", #"{"ContentId":"latchkey-demo","KeyId":"x"}"#])
    func `a content identifier that names no key is refused`(_ identifier: String) async throws {
        try await withService(NAGRAService.init) { stage in
            let spc = try stage.exchange(identifier).spc.revealed
            let reply = try await stage.license(spc, stage.service.demoToken().revealedText)
            #expect(reply.status == 400)
            #expect(try reply.member("errorCode") == "4011")
        }
    }

    @Test func `a body that is no SPC is refused`() async throws {
        try await withService(NAGRAService.init) { stage in
            let reply = try await stage.license(Data(count: 50), stage.service.demoToken().revealedText)
            #expect(reply.status == 400)
            #expect(try reply.member("errorCode") == "2001")
        }
    }
}

extension ServiceStage<NAGRAService> {
    /// The decoded key URI of the video key.
    var identifier: String { String(decoding: Data(base64Encoded: keyURI.remainder) ?? Data(), as: UTF8.self) }

    func spc() throws -> Data { try exchange(identifier).spc.revealed }

    /// A license request; the tokens are those of the header.
    func license(_ spc: Data, _ tokens: String, _ headers: [String: String] = [:], query: String = "") async throws
        -> Reply
    {
        let usual = [
            "Accept": "application/json", "Content-Type": "application/octet-stream", "nv-authorizations": tokens,
        ]
        return try await send(
            "POST", "/DEMO/fpls/contentlicenseservice/v1/licenses\(query)", usual.merging(headers) { $1 }, spc)
    }
}
