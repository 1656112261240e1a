import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyVendorWire
import Testing

@Suite(.timeLimit(.minutes(5))) struct AzureServiceTests {
    private static let id = Stage.videoKeyID

    @Test(arguments: [[:], ["Authorization": "Bearer x", "Content-Type": "application/x-www-form-urlencoded"]])
    func `the certificate is a static file in DER`(_ headers: [String: String]) async throws {
        try await withService(AzureService.init) { stage in
            let reply = try await stage.send("GET", "/certificates/fairplay.cer", headers)
            #expect(reply.status == 200)
            #expect(reply.body == Stage.certificate)
        }
    }

    @Test func `the key URI is the license URL with another scheme`() async throws {
        try await withService(AzureService.init) { stage in
            #expect(stage.keyURI.raw == "skd://127.0.0.1:\(stage.port)/azure/FairPlay/?kid=\(Self.id)")
            #expect(
                stage.service.parameters(at: "http://h/azure") == [
                    "certificateURL": "http://h/azure/certificates/fairplay.cer",
                    "licenseURL": "http://h/azure/FairPlay/",
                ])
        }
    }

    @Test(arguments: ["kid=\(id)", "skd://acct.keydelivery.media.azure.net/FairPlay/?kid=\(id)", "acct.azure.net"])
    func `each of the three content identifiers gets a tagged CKC`(_ identifier: String) async throws {
        try await withService(AzureService.init) { stage in
            let exchange = try stage.exchange(identifier)
            let reply = try await stage.license(exchange.spc.revealed, asset: identifier)
            #expect(reply.status == 200)
            #expect(reply.text.hasPrefix("<ckc>") && reply.text.hasSuffix("</ckc>"))
            let base64 = String(reply.text.dropFirst(5).dropLast(6))
            #expect(try stage.opensVideo(Data(base64Encoded: base64), exchange))
            #expect(stage.warnings.isEmpty)
        }
    }

    @Test func `the tags may be absent`() async throws {
        try await withService(AzureService.init, { $0.ckc = .base64 }) { stage in
            let exchange = try stage.exchange("kid=\(Self.id)")
            let reply = try await stage.license(exchange.spc.revealed)
            #expect(try stage.opensVideo(Data(base64Encoded: reply.text), exchange))
        }
    }

    @Test func `half a license stands between whole tags`() async throws {
        try await withService(AzureService.init) { stage in
            let spc = try stage.exchange("kid=\(Self.id)").spc.revealed
            let good = try await stage.license(spc).text
            stage.service.faults.set(.truncatedPayload, at: .license)
            let half = try await stage.license(spc).text
            #expect(half.hasPrefix("<ckc>") && half.hasSuffix("</ckc>"))
            let count = { (text: String) in Data(base64Encoded: String(text.dropFirst(5).dropLast(6)))?.count ?? 0 }
            #expect(count(half) == count(good) / 2)
        }
    }

    @Test func `unescaped base64 passes with a warning`() async throws {
        try await withService(AzureService.init) { stage in
            let spc = try stage.exchange("kid=\(Self.id)").spc.revealed.base64EncodedString()
            try #require(spc.contains("+"))
            let reply = try await stage.send(
                "POST", "/FairPlay/?kid=\(Self.id)", [:], Data("spc=\(spc)&assetId=kid=\(Self.id)".utf8))
            #expect(reply.status == 200)
            #expect(stage.warnings == ["formEscaping"])
        }
    }

    @Test func `an asset id that is not the SPC's leaves a warning`() async throws {
        try await withService(AzureService.init) { stage in
            let spc = try stage.exchange("kid=\(Self.id)").spc.revealed
            let status = try await stage.license(spc, asset: "acct.azure.net").status
            #expect(status == 200)
            #expect(stage.warnings == ["assetId"])
        }
    }

    @Test(arguments: [
        ("?kid=\(id)", "kid=\(id)", nil, "Bearer x", 401, "tokenMalformed"),
        ("?kid=\(id)", "kid=\(id)", nil, "Basic x", 401, "tokenMalformed"),
        ("", "kid=\(id)", nil, nil, 400, "malformedRequest"),
        ("?kid=video", "kid=\(id)", nil, nil, 400, "malformedRequest"),
        ("?kid=00000000-0000-0000-0000-000000000001", "host", nil, nil, 404, "unknownKey"),
        ("?kid=f1e2d3c4-b5a6-9788-7766-554433221100", "host", nil, nil, 403, "contentMismatch"),
        ("?kid=f1e2d3c4-b5a6-9788-7766-554433221100", "kid=\(id)", nil, nil, 400, "malformedRequest"),
        ("?kid=\(id)", "", nil, nil, 400, "malformedRequest"),
        ("?kid=\(id)", "kid=\(id)", "application/json", nil, 415, "mediaType"),
    ])
    func `a request that is wrong in one thing`(
        _ query: String, _ asset: String, _ type: String?, _ authorization: String?, _ status: Int, _ code: String
    ) async throws {
        try await withService(AzureService.init) { stage in
            let spc = try stage.exchange("kid=\(Self.id)").spc.revealed
            let headers = ["Content-Type": type, "Authorization": authorization].compactMapValues { $0 }
            let reply = try await stage.license(spc, asset: asset, query: query, headers: headers)
            #expect(reply.status == status)
            #expect(reply.code == code)
        }
    }

    @Test(arguments: ["spc=", "spc", "assetId=kid", "spc=%21&assetId=x", "\u{0}", ""])
    func `a form without an SPC is refused`(_ body: String) async throws {
        try await withService(AzureService.init) { stage in
            let reply = try await stage.send("POST", "/FairPlay/?kid=\(Self.id)", [:], Data(body.utf8))
            #expect(reply.status == 400)
            #expect(reply.code == "malformedRequest")
        }
    }

    @Test(arguments: [
        ("{}", 200, ""), (#"{"exp":1767225600}"#, 401, "tokenExpired"),
        (#"{"nbf":1767225601}"#, 401, "tokenNotYetValid"),
        (#"{"iss":"eve"}"#, 403, "notCovered"), (#"{"aud":["a","urn:test"]}"#, 200, ""),
        (#"{"aud":"other"}"#, 403, "notCovered"),
        (#"{"urn:microsoft:azure:mediaservices:contentkeyidentifier":"\#(id)"}"#, 200, ""),
        (
            #"{"urn:microsoft:azure:mediaservices:contentkeyidentifier":"f1e2d3c4-b5a6-9788-7766-554433221100"}"#, 403,
            "notCovered"
        ),
    ])
    func `a token is checked as configured`(_ claims: String, _ status: Int, _ code: String) async throws {
        try await withService(
            AzureService.init,
            {
                $0.requiresToken = true
                $0.issuer = "urn:issuer"
                $0.audience = "urn:test"
                $0.signingKey = Secret("a key of the customer's")
            }
        ) { stage in
            let spc = try stage.exchange("kid=\(Self.id)").spc.revealed
            let token = stage.service.token(claims: claims).revealedText
            let reply = try await stage.license(spc, headers: ["Authorization": "Bearer \(token)"])
            #expect(reply.status == status)
            #expect(status == 200 || reply.code == code)
            let missing = try await stage.license(spc)
            #expect(missing.code == "tokenMissing")
            let unsigned = try await stage.license(spc, headers: ["Authorization": "Bearer \(jwt(claims))"])
            #expect(unsigned.code == "tokenSignature")
        }
    }
}

extension ServiceStage<AzureService> {
    fileprivate func license(
        _ spc: Data, asset: String = "kid=\(Stage.videoKeyID)", query: String = "?kid=\(Stage.videoKeyID)",
        headers: [String: String] = [:]
    ) async throws -> Reply {
        let body = "spc=\(formEncoded(spc.base64EncodedString()))&assetId=\(formEncoded(asset))"
        return try await send("POST", "/FairPlay/\(query)", headers, Data(body.utf8))
    }
}
