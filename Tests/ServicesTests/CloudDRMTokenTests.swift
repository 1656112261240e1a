import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import Testing

/// The clock is fixed at 2026-01-01T00:00:00Z, 1767225600.
@Suite(.timeLimit(.minutes(5))) struct CloudDRMTokenTests {
    private static let id = Stage.videoKeyID

    @Test(arguments: [
        (#"{"kid":["*"]}"#, 200, ""), (#"{"kid":"*"}"#, 200, ""), (#"{"kid":["\#(id)"]}"#, 200, ""),
        (#"{"kid":["\#(id.uppercased().replacing("-", with: ""))"]}"#, 200, ""),
        (#"{"kid":["f1e2d3c4-b5a6-9788-7766-554433221100"]}"#, 403, "drm_3033"), (#"{"kid":[]}"#, 403, "drm_3033"),
        (#"{}"#, 403, "drm_3033"), (#"{"kid":["*"],"exp":1767225601}"#, 200, ""),
        (#"{"kid":["*"],"exp":1767225600}"#, 403, "drm_3031"),
        (#"{"kid":["*"],"exp":null}"#, 403, "drm_3031"),
        (#"{"drmTokenInfo":{"kid":["*"]}}"#, 200, ""), (#"{"drmTokenInfo":{"kid":["x"]}}"#, 403, "drm_3033"),
        (#"{"kid":["*"],"drmTokenInfo":{"kid":[]}}"#, 403, "drm_3033"),
        (#"{"drmTokenInfo":{"kid":["*"],"exp":"2026-01-01T00:00:01Z"}}"#, 200, ""),
        (#"{"drmTokenInfo":{"kid":["*"],"exp":"2025-12-31T23:59:59Z"}}"#, 403, "drm_3031"),
        (#"{"drmTokenInfo":{"kid":["*"],"exp":"soon"}}"#, 403, "drm_3031"),
    ])
    func `expiry and key list of both generations`(_ claims: String, _ status: Int, _ code: String) async throws {
        try await withStage { stage in
            let reply = try await stage.license(stage.cloudDRM.token(claims: claims).revealedText)
            #expect(reply.status == status)
            #expect(status == 200 || reply.says(code))
        }
    }

    @Test(arguments: [
        (#"{"kid":["*"]}"#, LicenseTerms(.lease(.seconds(900)))),
        (#"{"kid":["*"],"persistent":false,"duration":400}"#, LicenseTerms(.lease(.seconds(400)))),
        (#"{"kid":["*"],"persistent":true}"#, LicenseTerms(.persistent)),
        (#"{"kid":["*"],"persistent":true,"duration":500}"#, LicenseTerms(.persistentFor(.seconds(500)))),
        (
            #"{"kid":["*"],"persistent":true,"fairplay":{"storage_duration":600,"playback_duration":60}}"#,
            LicenseTerms(.dualExpiry(storage: .seconds(600), playback: .seconds(60)))
        ),
        (
            #"{"kid":["*"],"fairplay":{"persistent":true,"offline_storage_duration":700}}"#,
            LicenseTerms(.persistentFor(.seconds(700)))
        ),
        (#"{"drmTokenInfo":{"kid":["*"],"p":{"pers":true}}}"#, LicenseTerms(.persistent)),
        (#"{"drmTokenInfo":{"kid":["*"],"p":{"pers":false}}}"#, LicenseTerms(.lease(.seconds(900)))),
        (
            #"{"drmTokenInfo":{"kid":["*"],"p":{"pers":true,"ed":"2026-01-01T01:00:00Z"}}}"#,
            LicenseTerms(.persistentFor(.seconds(3_600)))
        ),
    ])
    func `the persistence claims reach the device`(_ claims: String, _ terms: LicenseTerms) async throws {
        try await withStage(policy: LicensePolicy(standard: LicenseTerms(.lease(.seconds(900))))) { stage in
            let exchange = try stage.exchange("host/path?KID=\(Self.id)")
            let reply = try await stage.license(stage.cloudDRM.token(claims: claims).revealedText, exchange)
            #expect(try exchange.open(reply.body, at: stage.time).terms == terms)
        }
    }

    @Test func `with a signing key only its signature counts`() async throws {
        try await withStage(cloudDRM: { $0.signingKey = Secret("thirty-two bytes of signing key!") }) { stage in
            let token = stage.cloudDRM.demoToken().revealedText
            let status = try await stage.license(token).status
            #expect(status == 200)
            let parts = token.split(separator: ".")
            let unsigned = "\(parts[0]).\(parts[1]).\(String(repeating: "A", count: 43))"
            let reply = try await stage.license(unsigned)
            #expect(reply.status == 403 && reply.says("drm_3032"))
        }
    }

    @Test(arguments: ["none", "HS512", "RS256", ""])
    func `another algorithm is refused`(_ algorithm: String) async throws {
        try await withStage { stage in
            let header = Data(#"{"alg":"\#(algorithm)"}"#.utf8).base64EncodedString().replacing("=", with: "")
            let parts = stage.cloudDRM.demoToken().revealedText.split(separator: ".")
            let reply = try await stage.license("\(header).\(parts[1]).\(parts[2])")
            #expect(reply.status == 403 && reply.says("drm_3031"))
        }
    }
}

extension Stage {
    fileprivate func license(_ token: String, _ exchange: KeyExchange? = nil) async throws -> Reply {
        let exchange = try exchange ?? self.exchange("host/path?KID=\(Stage.videoKeyID)")
        return try await send(
            "POST", "/acquire-license/fairplay?KID=\(Stage.videoKeyID)",
            ["x-drm-brandGuid": Stage.brand, "x-drm-usertoken": token, "Content-Type": "application/octet-stream"],
            exchange.spc.revealed)
    }
}

extension Reply {
    /// Whether the body has the vendor's code.
    fileprivate func says(_ code: String) -> Bool {
        (try? JSONSerialization.jsonObject(with: body) as? [String: Any])?["code"] as? String == code
    }
}
