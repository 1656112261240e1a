import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyServices
import LatchkeyTesting
import Testing

/// Source: api.ncloud-docs.com, One Click Multi DRM, of 17 September 2026; what is inferred is said in `NAVERService`.
@Suite(.timeLimit(.minutes(2))) struct NAVERServiceTests {
    private static let id = Stage.videoKeyID

    @Test func `the certificate is base64 or bytes, for a token alone`() async throws {
        try await withService(NAVERService.init) { stage in
            let token = ["X-DRM-TOKEN": stage.service.demoToken().revealedText]
            let text = try await stage.send("GET", "/api/v1/license/fairPlay", token)
            #expect(Data(base64Encoded: text.text) == Stage.certificate)
            let bytes = try await stage.send("GET", "/api/v1/license/fairPlayBinary", token)
            #expect(bytes.body == Stage.certificate)
            let without = try await stage.send("GET", "/api/v1/license/fairPlay")
            #expect(try without.errorCode == "280003")
        }
    }

    @Test(arguments: ["application/x-www-form-urlencoded", "application/json", "application/octet-stream"])
    func `the SPC is taken as form, JSON or bytes, and the CKC comes as bytes`(_ type: String) async throws {
        try await withService(NAVERService.init) { stage in
            let exchange = try stage.exchange(Self.id)
            let base64 = exchange.spc.revealed.base64EncodedString()
            let body =
                switch type {
                case "application/json": Data(#"{"spc":"\#(base64)"}"#.utf8)
                case "application/octet-stream": exchange.spc.revealed
                default: Data("spc=\(formEncoded(base64))".utf8)
                }
            let reply = try await stage.license(body, type: type)
            #expect(reply.status == 200)
            #expect(try stage.opensVideo(reply.body, exchange))
            #expect(stage.warnings == ["gatewayFields"])
        }
    }

    @Test(arguments: [
        ([:], "281003", ["siteId": "another"]), ([:], "2810012", ["contentId": "another-one"]),
        ([:], "280001", ["contentId": "a"]), ([:], "280001", ["contentId": "a b c"]),
        ([:], "280001", ["drmType": "WIDEVINE"]),
        ([:], "280001", ["userId": ""]), (["X-DRM-TOKEN": "?"], "280001", [:]), (["X-DRM-TOKEN": ""], "280003", [:]),
    ])
    func `a token that is wrong in one thing has the code of the list`(
        _ headers: [String: String], _ code: String, _ members: [String: String]
    ) async throws {
        try await withService(NAVERService.init, { $0.siteID = "SITE" }) { stage in
            let token = ["X-DRM-TOKEN": stage.service.token(members).revealedText]
            let spc = try stage.exchange(Self.id).spc.revealed
            let reply = try await stage.license(spc, token.merging(headers) { $1 }, type: "application/octet-stream")
            #expect(reply.status == 400)
            #expect(try reply.errorCode == code)
        }
    }

    @Test(arguments: [
        ("1767225600000", "KEY", true), ("1767225900001", "KEY", false), ("1767225600000", "OTHER", false),
    ])
    func `the gateway's signature counts where its secret is known`(
        _ timestamp: String, _ key: String, _ isGood: Bool
    ) async throws {
        let change: (inout NAVERService) -> Void = {
            $0.accessKey = "KEY"
            $0.secretKey = Secret("gateway-secret")
        }
        try await withService(NAVERService.init, change) { stage in
            let line = "POST /api/v1/license\n\(timestamp)\n\(key)"
            let secret = Secret("gateway-secret")
            let mac = try secret.withUnsafeBytes { try MessageDigest.hmacSHA256(key: $0, Array(line.utf8)) }
            let signature = Data(mac)
            let gateway = [
                "X-DRM-TOKEN": stage.service.demoToken().revealedText, "x-ncp-apigw-timestamp": timestamp,
                "x-ncp-iam-access-key": key, "x-ncp-apigw-signature-v2": signature.base64EncodedString(),
            ]
            let exchange = try stage.exchange(Self.id)
            let reply = try await stage.license(exchange.spc.revealed, gateway, type: "application/octet-stream")
            #expect(reply.status == (isGood ? 200 : 401))
            let forged = gateway.merging(["x-ncp-apigw-signature-v2": "AAAA"]) { $1 }
            let refused = try await stage.license(exchange.spc.revealed, forged, type: "application/octet-stream")
            #expect(refused.status == 401)
        }
    }
}

extension Reply {
    fileprivate var errorCode: String? {
        get throws {
            let json = try JSONSerialization.jsonObject(with: body) as? [String: [String: String]]
            return json?["error"]?["code"]
        }
    }
}

extension ServiceStage<NAVERService> {
    fileprivate func license(_ body: Data, _ headers: [String: String]? = nil, type: String) async throws -> Reply {
        let headers = headers ?? ["X-DRM-TOKEN": service.demoToken().revealedText]
        return try await send("POST", "/api/v1/license", headers.merging(["Content-Type": type]) { $1 }, body)
    }
}
