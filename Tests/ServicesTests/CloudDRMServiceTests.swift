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

    @Test func `header credentials and a raw SPC get a raw CKC`() async throws {
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

    @Test func `a single-use token is refused the second time`() async throws {
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
}

extension Stage {
    fileprivate var token: String { cloudDRM.demoToken().revealedText }
}
