import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct CloudDRMServiceTests {
    private static let id = Stage.videoKeyID
    private static let iv = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    /// The key URI without its scheme: the SPC's content identifier.
    private static let asset = "t.la.drm.cloud/acquire-license/fairplay?BrandGuid=\(Stage.brand)&KID=\(id)&IV=\(iv)"

    // MARK: Certificate

    @Test func `without a brand of its own the service takes any GUID`() async throws {
        try await withStage(cloudDRM: { $0.brandGuid = nil }) { stage in
            let path = "/cloud-drm/certificate/fairplay?brandGuid="
            let status200 = try await stage.send("GET", path + "00000000-0000-0000-0000-000000000000").status
            #expect(status200 == 200)
            let status403 = try await stage.send("GET", path + "nobody").status
            #expect(status403 == 403)
        }
    }

    @Test(arguments: CloudDRMService.CertificateEncoding.allCases)
    func `the certificate comes in each documented form`(_ form: CloudDRMService.CertificateEncoding) async throws {
        try await withStage(cloudDRM: { $0.certificateEncoding = form }) { stage in
            let token = stage.cloudDRM.demoToken().revealedText
            let reply = try await stage.send(
                "GET", "/cloud-drm/certificate/fairplay?brandGuid=\(Stage.brand)&usertoken=\(token)")
            let der = Stage.credentials.credential.certificate.der
            let text = String(decoding: reply.body, as: UTF8.self)
            #expect(reply.status == 200)
            switch form {
            case .der: #expect(reply.body == der)
            case .base64: #expect(text == der.base64EncodedString())
            case .pem:
                #expect(text.hasPrefix("-----BEGIN CERTIFICATE-----\nMII"))
                #expect(
                    text.hasSuffix("=\n-----END CERTIFICATE-----\n") || text.hasSuffix("\n-----END CERTIFICATE-----\n"))
            }
        }
    }

    @Test(arguments: [
        ("GET", "", [:], 403), ("GET", "", ["x-drm-brandGuid": Stage.brand], 403), ("GET", "?brandGuid=x", [:], 403),
        ("GET", "?brandGuid=00000000-0000-0000-0000-000000000000", [:], 403),
        ("GET", "?BRANDGUID=\(Stage.brand.uppercased())", [:], 200),
        ("GET", "?brandGuid=\(Stage.brand)&usertoken=bad", [:], 403), ("POST", "?brandGuid=\(Stage.brand)", [:], 405),
    ])
    func `a certificate request needs the brand in its query`(
        _ method: String, _ query: String, _ headers: [String: String], _ status: Int
    ) async throws {
        try await withStage { stage in
            let reply = try await stage.send(method, "/certificate/fairplay\(query)", headers)
            #expect(reply.status == status)
        }
    }

    // MARK: License

    @Test func `credentials in header fields and a raw SPC get a raw CKC`() async throws {
        try await withStage { stage in
            let exchange = try stage.exchange(Self.asset)
            let reply = try await stage.send(
                "POST", "/acquire-license/fairplay?BrandGuid=\(Stage.brand)&KID=\(Self.id)&IV=\(Self.iv)",
                [
                    "x-drm-brandGuid": Stage.brand, "x-drm-usertoken": stage.token,
                    "Content-Type": "application/octet-stream",
                ], exchange.spc.revealed)
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/octet-stream")
            #expect(try exchange.open(reply.body, at: stage.time).contentKey == Stage.videoKey)
            #expect(stage.cloudDRM.warnings.isEmpty)
        }
    }

    @Test(arguments: [
        "KID=\(id)&brandguid=\(Stage.brand)&usertoken=", "kid=\(id.uppercased())&BrandGuid=\(Stage.brand)&UserToken=",
        "KID=\(id.replacing("-", with: ""))&brandGuid=\(Stage.brand)&userToken=",
    ])
    func `credentials in the query count in any case`(_ query: String) async throws {
        try await withStage { stage in
            let exchange = try stage.exchange(Self.asset)
            let reply = try await stage.send(
                "POST", "/cloud-drm/acquire-license/fairplay?\(query)\(stage.token)",
                ["Content-Type": "application/octet-stream"], exchange.spc.revealed)
            #expect(try exchange.open(reply.body, at: stage.time).contentKey == Stage.videoKey)
        }
    }

    @Test func `a multipart request that accepts JSON gets the CKC as base64 in JSON`() async throws {
        try await withStage { stage in
            let exchange = try stage.exchange(Self.asset)
            let body =
                "--boundary\r\nContent-Disposition: form-data; name=\"spc\"\r\n\r\n"
                + exchange.spc.revealed.base64EncodedString() + "\r\n--boundary--\r\n"
            let reply = try await stage.send(
                "POST", "/acquire-license/fairplay?BrandGuid=\(Stage.brand)&KID=\(Self.id)&userToken=\(stage.token)",
                ["Content-Type": "multipart/form-data; boundary=boundary", "Accept": "application/json"],
                Data(body.utf8))
            #expect(reply.headers["content-type"] == "application/json")
            let json = try JSONDecoder().decode([String: String].self, from: reply.body)
            let ckc = try #require(json["ckc"].flatMap { Data(base64Encoded: $0) })
            #expect(try exchange.open(ckc, at: stage.time).contentKey == Stage.videoKey)
        }
    }

    @Test(arguments: [("application/json, text/plain", true), ("*/*", false), ("application/octet-stream", false)])
    func `the form of the reply follows Accept`(_ accept: String, _ isJSON: Bool) async throws {
        try await withStage { stage in
            let reply = try await stage.license(headers: ["Accept": accept])
            #expect(reply.body.first == (isJSON ? UInt8(ascii: "{") : 0))
        }
    }

    @Test(arguments: [
        (["Content-Type": "application/x-www-form-urlencoded"], "KID=\(id)", ["contentType"]),
        (["X-Drm-KID": id], "", ["kidInHeader"]), (["KID": id], "", ["kidInHeader"]),
        (["x-drm-brandGuid": Stage.brand], "KID=\(id)&BrandGuid=other", ["twoCredentials"]),
    ])
    func `what the real service lets pass leaves a warning`(
        _ headers: [String: String], _ query: String, _ warnings: [String]
    ) async throws {
        try await withStage { stage in
            let status = try await stage.license(headers: headers, query: query).status
            #expect(status == 200)
            #expect(stage.cloudDRM.warnings.map(\.code) == warnings)
        }
    }

    @Test func `a raw SPC without a content type is taken`() async throws {
        // Straight to the service, because URLSession always sets a type.
        try await withStage { stage in
            let exchange = try stage.exchange(Self.asset)
            let response = await stage.cloudDRM.respond(
                to: HTTPRequest(
                    method: "POST", target: "/acquire-license/fairplay?KID=\(Self.id)",
                    headers: ["x-drm-brandGuid": Stage.brand, "x-drm-usertoken": stage.token],
                    body: exchange.spc.revealed))
            let ckc = try #require(response.bytes)
            #expect(try exchange.open(ckc, at: stage.time).contentKey == Stage.videoKey)
            #expect(stage.cloudDRM.warnings.isEmpty)
        }
    }

    @Test(arguments: [
        ([:], "", 403, "drm_4003"), ([:], "KID=video", 403, "drm_4003"),
        ([:], "KID=00000000-0000-0000-0000-000000000001", 403, "drm_3033"),
        ([:], "KID=f1e2d3c4-b5a6-9788-7766-554433221100", 403, "drm_3033"),
        ([:], "KID=\(id)&IV=00", 403, "drm_4003"),
        ([:], "KID=\(id)&IV=00000000000000000000000000000000", 403, "drm_4003"),
        (["x-drm-brandGuid": ""], "KID=\(id)", 403, "drm_4005"),
        (["x-drm-brandGuid": "00000000-0000-0000-0000-000000000000"], "KID=\(id)", 403, "drm_4005"),
        (["x-drm-usertoken": ""], "KID=\(id)", 403, "drm_3036"),
        (["x-drm-usertoken": "a.b.c"], "KID=\(id)", 403, "drm_3031"),
        (["Content-Type": "application/json"], "KID=\(id)", 415, "mediaType"),
        (["Content-Type": "multipart/form-data; boundary=b"], "KID=\(id)", 403, "drm_4003"),
    ])
    func `a license request that is wrong in one thing`(
        _ headers: [String: String], _ query: String, _ status: Int, _ code: String
    ) async throws {
        try await withStage { stage in
            let reply = try await stage.license(headers: headers, query: query)
            #expect(reply.status == status)
            #expect(status == 415 ? reply.code == code : try reply.member("code") == code)
            #expect(reply.headers["x-request-id"]?.isEmpty == false)
            if status != 415 { #expect(try reply.member("requestId") == reply.headers["x-request-id"]) }
        }
    }

    @Test func `a token that is good once is used the second time`() async throws {
        try await withService(CloudDRMService.init, { $0.tokensAreSingleUse = true }) { stage in
            let headers = [
                "x-drm-brandGuid": Stage.brand, "x-drm-usertoken": stage.service.demoToken().revealedText,
                "Content-Type": "application/octet-stream",
            ]
            let spc = try stage.exchange("host/path?KID=\(Stage.videoKeyID)").spc.revealed
            let path = "/acquire-license/fairplay?KID=\(Stage.videoKeyID)"
            #expect(try await stage.send("POST", path, headers, spc).status == 200)
            let second = try await stage.send("POST", path, headers, spc)
            #expect(second.status == 403)
            #expect(try second.member("code") == "drm_3039")
            #expect(try second.member("requestId") == second.headers["x-request-id"])
        }
    }

    @Test(arguments: [
        (Data(), "drm_4002"), (Data(count: 200), "drm_4003"), (Data("eyJ".utf8), "drm_4003"),
    ])
    func `a body that is no SPC is refused`(_ body: Data, _ code: String) async throws {
        try await withStage { stage in
            let reply = try await stage.license(body: body)
            #expect(reply.status == 403)
            #expect(try reply.member("code") == code)
        }
    }
}

extension Stage {
    fileprivate var token: String { cloudDRM.demoToken().revealedText }

    /// A license request for the video key that is right but for what is given.
    fileprivate func license(
        headers: [String: String] = [:], query: String = "KID=\(Stage.videoKeyID)", body: Data? = nil
    ) async throws -> Reply {
        let good = [
            "x-drm-brandGuid": Stage.brand, "x-drm-usertoken": token, "Content-Type": "application/octet-stream",
        ]
        let spc = try exchange("host/acquire-license/fairplay?KID=\(Stage.videoKeyID)").spc.revealed
        return try await send(
            "POST", "/cloud-drm/acquire-license/fairplay?\(query)", good.merging(headers) { $1 }, body ?? spc)
    }
}
