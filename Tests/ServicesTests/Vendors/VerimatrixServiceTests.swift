import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct VerimatrixServiceTests {
    private static let id = Stage.videoKeyID

    private static let wrongRequests: [(String?, String?, Int, String)] = [
        (nil, "AAAA", 401, "MDRM-1001"), ("x.y", "AAAA", 401, "MDRM-1002"),
        (jwt(#"{"iat":1767225600,"exp":1}"#), "AAAA", 401, "MDRM-508"), (jwt("{}"), "AAAA", 401, "MDRM-509"),
        (jwt(#"{"iat":1767225600,"nbf":1767225699}"#), "AAAA", 401, "MDRM-511"),
        (jwt(#"{"iat":1767225606}"#), "AAAA", 401, "MDRM-510"), (jwt(#"{"iat":1767225605}"#), nil, 400, "MDRM-1004"),
        (jwt(#"{"iat":1767225474,"exp":1767229200}"#), "AAAA", 401, "MDRM-508"),
        (jwt(#"{"iat":1767225475}"#), nil, 400, "MDRM-1004"),
        ("Bearer \(fresh)", "AAAA", 401, "MDRM-1002"), (fresh, nil, 400, "MDRM-1004"),
        (fresh, "", 400, "MDRM-1004"), (fresh, "AAAA", 400, "MDRM-1007"),
        (jwt(#"{"iat":1767225600,"sub":"nothing"}"#), "AAAA", 404, "MDRM-1011"),
    ]

    /// Of the time at which the stage's clock stands.
    private static let fresh = jwt(#"{"iat":1767225600}"#)

    @Test func `the certificate is DER and the key URI has no host`() async throws {
        try await withService(VerimatrixService.init) { stage in
            let reply = try await stage.send("GET", "/fairplay/certificate")
            #expect(reply.body == Stage.certificate)
            #expect(stage.keyURI.raw == "skd://\(Self.id)?keyId=\(Self.id)")
            #expect(stage.service.parameters(at: "http://h/verimatrix")["licenseURL"] == "http://h/verimatrix/fairplay")
        }
    }

    @Test(arguments: [(id, false), ("\(id)?keyId=\(id)", true), (id, true)])
    func `the token in header or query gets the CKC as JSON`(_ identifier: String, _ isInQuery: Bool) async throws {
        try await withService(VerimatrixService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let token = stage.service.demoToken().revealedText
            let reply = try await stage.license(
                exchange.spc.revealed.base64EncodedString(), isInQuery ? nil : token,
                query: isInQuery ? "?Authorization=\(token)" : "")
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(try reply.payload("ckc"), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `the URL-safe alphabet is as good, without padding it leaves a warning`() async throws {
        try await withService(VerimatrixService.init) { stage in
            let spc = try stage.exchange(Self.id).spc.revealed
            let token = stage.service.demoToken().revealedText
            let safe = spc.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            try #require(safe.hasSuffix("=") && safe.contains("-"))
            let padded = try await stage.license(safe, token).status
            #expect(padded == 200)
            #expect(stage.warnings.isEmpty)
            let bare = try await stage.license(spc.base64URL, token).status
            #expect(bare == 200)
            #expect(stage.warnings == ["base64"])
        }
    }

    @Test(arguments: [("-", "_", []), ("+", "/", ["formEscaping"]), ("%2B", "%2F", [])])
    func `the older product's form gets a tagged CKC`(
        _ plus: String, _ slash: String, _ warnings: [String]
    ) async throws {
        try await withService(VerimatrixService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let spc = exchange.spc.revealed.base64EncodedString()
                .replacing("+", with: plus).replacing("/", with: slash)
            let reply = try await stage.send("POST", "/fairplay", [:], Data("spc=\(spc)".utf8))
            #expect(reply.status == 200)
            #expect(reply.text.hasPrefix("<ckc>"))
            #expect(try stage.opensVideo(Data(base64Encoded: String(reply.text.dropFirst(5).dropLast(6))), exchange))
            #expect(stage.warnings == warnings)
        }
    }

    @Test(arguments: wrongRequests)
    func `a request that is wrong in one thing has its code`(
        _ token: String?, _ spc: String?, _ status: Int, _ code: String
    ) async throws {
        try await withService(VerimatrixService.init) { stage in
            let reply = try await stage.license(spc, token)
            #expect(reply.status == status)
            #expect(try reply.member("code") == code)
            #expect(try reply.member("message")?.isEmpty == false)
        }
    }

    @Test(arguments: [
        (#"{"sub":"\#(id)"}"#, id, 200, ""), (#"{"sub":"audio"}"#, id, 400, "MDRM-1014"),
        ("{}", "nothing", 404, "MDRM-1011"),
    ])
    func `subject and content identifier have to agree`(
        _ claims: String, _ identifier: String, _ status: Int, _ code: String
    ) async throws {
        try await withService(VerimatrixService.init) { stage in
            let spc = try stage.exchange(identifier).spc.revealed.base64EncodedString()
            let reply = try await stage.license(spc, stage.service.token(claims: claims).revealedText)
            #expect(reply.status == status)
            #expect(try status == 200 || reply.member("code") == code)
        }
    }

    @Test(arguments: [
        ("MDRM-1003", 404), ("MDRM-1005", 404), ("MDRM-1009", 500), ("MDRM-1012", 500), ("MDRM-1015", 503),
    ])
    func `what only the back end knows is set by the fault switch`(_ code: String, _ status: Int) async throws {
        try await withService(VerimatrixService.init) { stage in
            stage.service.faults.set(.refusal(code: code, status: status), at: .license, for: .first(1))
            let reply = try await stage.license("AAAA", Self.fresh)
            #expect(reply.status == status)
            #expect(try reply.member("code") == code)
            let delay = reply.headers["retry-after"].flatMap { Int($0) }
            #expect(status == 503 ? (1...5).contains(delay ?? 0) : delay == nil)
        }
    }

    @Test(arguments: [
        (#"{"lease":true,"lease_duration":900}"#, LicenseTerms(.lease(.seconds(900)))),
        (#"{"lease":false,"lease_duration":900}"#, LicenseTerms()),
        (#"{"persistence":true}"#, LicenseTerms(.persistent)),
        (#"{"persistence":true,"persistence_duration":600}"#, LicenseTerms(.persistentFor(.seconds(600)))),
        (#"{"key_duration":300}"#, LicenseTerms(.rental(.seconds(300)))),
    ])
    func `the policy's terms reach the device`(_ policy: String, _ terms: LicenseTerms) async throws {
        try await withService(VerimatrixService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let token = stage.service.token(claims: #"{"policy":{"fairplay":\#(policy)}}"#).revealedText
            let reply = try await stage.license(exchange.spc.revealed.base64EncodedString(), token)
            let ckc = try #require(try reply.payload("ckc"))
            #expect(try exchange.open(ckc, at: stage.time).terms == terms)
        }
    }

    @Test func `with a key only its signature counts`() async throws {
        try await withService(VerimatrixService.init, { $0.signingKey = Secret("a key") }) { stage in
            let spc = try stage.exchange(Self.id).spc.revealed.base64EncodedString()
            let good = try await stage.license(spc, stage.service.demoToken().revealedText).status
            #expect(good == 200)
            let reply = try await stage.license(spc, Self.fresh)
            #expect(try reply.member("code") == "MDRM-505")
        }
    }
}

extension ServiceStage<VerimatrixService> {
    fileprivate func license(_ spc: String?, _ token: String?, query: String = "") async throws -> Reply {
        let headers = ["Content-Type": "application/json", "Authorization": token].compactMapValues { $0 }
        let body = spc.map { #"{"spc":"\#($0)"}"# } ?? "{}"
        return try await send("POST", "/fairplay\(query)", headers, Data(body.utf8))
    }
}
