import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyVendorWire
import Testing

/// The clock stands at 2026-01-01T00:00:00Z.
@Suite(.timeLimit(.minutes(5))) struct KeyOSServiceTests {
    private static let id = Stage.videoKeyID
    private static let publicKey = "0123456789abcdef0123456789abcdef"
    /// An authentication as documented.
    private static let xml = """
        <KeyOSAuthenticationXML><Data><GenerationTime>2026-01-01 00:00:00.000</GenerationTime>\
        <ExpirationTime>2026-01-01 00:00:01.000</ExpirationTime><UniqueId>u</UniqueId>\
        <RSAPubKeyId>\(publicKey)</RSAPubKeyId><FairPlayPolicy persistent="false"/><License type="simple"/></Data>\
        <Signature>AAAA</Signature></KeyOSAuthenticationXML>
        """

    @Test(arguments: [
        ("/cert/\(publicKey).der", [:], 200), ("/cert/\(publicKey.uppercased()).der", [:], 200),
        ("/cert/demo.der", [:], 404), ("/cert/\(publicKey).cer", [:], 404),
        ("/cert/\(publicKey).der", ["x-keyos-authorization": Data(xml.utf8).base64EncodedString()], 200),
        ("/cert/\(publicKey).der", ["x-keyos-authorization": "AAAA"], 401),
    ])
    func `the certificate is named by its public key`(
        _ path: String, _ headers: [String: String], _ status: Int
    ) async throws {
        try await withService(KeyOSService.init) { stage in
            let reply = try await stage.send("GET", path, headers)
            #expect(reply.status == status)
            #expect((reply.body == Stage.certificate) == (status == 200))
        }
    }

    @Test(arguments: [
        ("/getkey", "x-keyos-authorization", id), ("/getkey/", "x-keyos-authorization", "skd://\(id)"),
        ("/getkey", "customdata", id),
    ])
    func `a form with an authentication gets the CKC in base64`(
        _ path: String, _ header: String, _ identifier: String
    ) async throws {
        try await withService(KeyOSService.init) { stage in
            #expect(stage.keyURI.raw == "skd://\(Self.id)")
            #expect(stage.service.parameters(at: "http://h/keyos")["header"] == "x-keyos-authorization")
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(
                exchange.spc.revealed, path: path, headers: [header: stage.service.demoToken().revealedText])
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(Data(base64Encoded: reply.text), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `the CKC may be between tags`() async throws {
        try await withService(KeyOSService.init, { $0.ckc = .tagged }) { stage in
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(exchange.spc.revealed, headers: Self.header(Self.xml))
            let base64 = String(reply.text.dropFirst("<ckc>".count).dropLast("</ckc>".count))
            #expect(try stage.opensVideo(Data(base64Encoded: base64), exchange))
        }
    }

    @Test func `unescaped base64 passes with a warning`() async throws {
        try await withService(KeyOSService.init) { stage in
            let spc = try stage.exchange(Self.id).spc.revealed.base64EncodedString()
            try #require(spc.contains("+"))
            let body = Data("spc=\(spc)&assetId=\(Self.id)".utf8)
            let reply = try await stage.send("POST", "/getkey", Self.header(Self.xml), body)
            #expect(reply.status == 200)
            #expect(stage.warnings == ["formEscaping"])
        }
    }

    @Test(arguments: [
        ("", "tokenMalformed"), ("<a/>", "tokenMalformed"),
        (xml.replacing("<Data>", with: "<?p?><Data>"), "tokenMalformed"),
        ("<?p?>" + xml, "tokenMalformed"), (String(xml.dropLast(5)), "tokenMalformed"),
        (xml.replacing("UniqueId", with: "Id"), "tokenMalformed"),
        (xml.replacing("<Signature>AAAA</Signature>", with: ""), "tokenMalformed"),
        (xml.replacing("2026-01-01 00:00:01.000", with: "2026-01-01 00:00:00.000"), "tokenExpired"),
        (xml.replacing("2026-01-01 00:00:01.000", with: "2025-12-31 23:59:59.999"), "tokenExpired"),
        (xml.replacing("2026-01-01 00:00:01.000", with: "soon"), "tokenMalformed"),
        (
            #"<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><KeyOSAuthenticationXML>&x;</KeyOSAuthenticationXML>"#,
            "tokenMalformed"
        ),
    ])
    func `an authentication of another form or time is refused`(_ xml: String, _ code: String) async throws {
        try await withService(KeyOSService.init) { stage in
            let reply = try await stage.license(
                try stage.exchange(Self.id).spc.revealed, headers: Self.header(xml.isEmpty ? "x" : xml))
            #expect(reply.status == 401)
            #expect(reply.code == code)
        }
    }

    @Test(arguments: [
        ([:], id, 401, "tokenMissing"), (header("x").mapValues { _ in "?" }, id, 400, "malformedRequest"),
        (header(xml), "", 400, "malformedRequest"), (header(xml), "nothing", 404, "unknownKey"),
        (header(xml), "audio", 403, "contentMismatch"),
        (header(xml).merging(["Content-Type": "application/json"]) { $1 }, id, 415, "mediaType"),
    ])
    func `a request that is wrong in one thing`(
        _ headers: [String: String], _ asset: String, _ status: Int, _ code: String
    ) async throws {
        try await withService(KeyOSService.init) { stage in
            let reply = try await stage.license(
                try stage.exchange(Self.id).spc.revealed, asset: asset, headers: headers)
            #expect(reply.status == status)
            #expect(reply.code == code)
        }
    }

    @Test(arguments: [("true", LicenseTerms(.persistent)), ("false", LicenseTerms())])
    func `the policy says what may be stored`(_ persistence: String, _ terms: LicenseTerms) async throws {
        try await withService(KeyOSService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let token = stage.service.token(persistent: persistence).revealedText
            let reply = try await stage.license(exchange.spc.revealed, headers: ["x-keyos-authorization": token])
            let ckc = try #require(Data(base64Encoded: reply.text))
            #expect(try exchange.open(ckc, at: stage.time).terms == terms)
        }
    }

    @Test(arguments: [(publicKey, 200, 200), ("ffffffffffffffffffffffffffffffff", 403, 404)])
    func `a configured public key is the only one`(
        _ key: String, _ license: Int, _ certificate: Int
    ) async throws {
        try await withService(KeyOSService.init, { $0.publicKeyID = key }) { stage in
            let reply = try await stage.license(
                try stage.exchange(Self.id).spc.revealed, headers: Self.header(Self.xml))
            #expect(reply.status == license)
            let status = try await stage.send("GET", "/cert/\(Self.publicKey).der").status
            #expect(status == certificate)
        }
    }

    private static func header(_ xml: String) -> [String: String] {
        ["x-keyos-authorization": Data(xml.utf8).base64EncodedString()]
    }
}

extension ServiceStage<KeyOSService> {
    fileprivate func license(
        _ spc: Data, asset: String = Stage.videoKeyID, path: String = "/getkey", headers: [String: String]
    ) async throws -> Reply {
        let body = "spc=\(formEncoded(spc.base64EncodedString()))&assetId=\(formEncoded(asset))"
        return try await send("POST", path, headers, Data(body.utf8))
    }
}
