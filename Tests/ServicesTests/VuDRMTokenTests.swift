import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct VuDRMTokenTests {
    private static let hash = "0123456789abcdef0123456789abcdef01234567"

    @Test(arguments: [
        ("demo-client|2024-01-02T03:04:05Z|AAAAAAAAAAAAAAAAAAAAAA==|\(hash)", []),
        ("demo-client|2024-01-02T03:04:05Z|2|AAAAAAAAAAAAAAAAAAAAAA==|\(hash)", []),
        ("demo-client|2018-26-11T03:04:05Z|AAAAAAAAAAAAAAAAAAAAAA==|\(hash)", ["tokenDate"]),
    ])
    func `tokens of both generations are taken`(_ token: String, _ warnings: [String]) async throws {
        try await withStage { stage in
            let status = try await stage.license(token).status
            #expect(status == 200)
            #expect(stage.vuDRM.warnings.map(\.code) == warnings)
        }
    }

    @Test(arguments: [
        "demo-client", "a|b|c", "a|b|c|d|e|f", "|2024-01-02T03:04:05Z|AAAA|\(hash)",
        "demo-client|yesterday|AAAA|\(hash)", "demo-client|2024-13-32T03:04:05Z|AAAA|\(hash)",
        "demo-client|2024-01-02 03:04:05|AAAA|\(hash)", "demo-client|2024-01-02T03:04:05Z||\(hash)",
        "demo-client|2024-01-02T03:04:05Z|!|\(hash)", "demo-client|2024-01-02T03:04:05Z|AAAA|1234",
        "demo-client|2024-01-02T03:04:05Z|AAAA|\(hash)x", "demo-client|2024-01-02T03:04:05Z|AAAA|\(hash)0",
    ])
    func `a token of another form is refused and not repeated`(_ token: String) async throws {
        try await withStage { stage in
            let reply = try await stage.license(token)
            #expect(reply.status == 401)
            #expect(reply.code == "tokenMalformed")
            #expect(!String(decoding: reply.body, as: UTF8.self).contains(token))
        }
    }

    // With tokens for one license each, a stream's second key was refused where both were asked for within a second.
    @Test func `no two tokens are alike, as each may be good for one license only`() async throws {
        try await withStage { stage in #expect(stage.vuDRM.demoToken() != stage.vuDRM.demoToken()) }
    }

    @Test(arguments: [(nil, 1_000_000, 200), (30, 30, 200), (30, 31, 401)])
    func `age counts only where a lifetime is set`(_ lifetime: Int?, _ age: Int, _ status: Int) async throws {
        try await withStage(vuDRM: { $0.tokenLifetime = lifetime.map { .seconds($0) } }) { stage in
            let token = stage.vuDRM.demoToken().revealedText
            stage.time.advance(by: .seconds(age))
            let reply = try await stage.license(token)
            #expect(reply.status == status)
            #expect(status == 200 || reply.code == "tokenExpired")
        }
    }

    @Test(arguments: [(false, 200), (true, 403)])
    func `a second use is refused where tokens are single-use`(_ isSingleUse: Bool, _ status: Int) async throws {
        try await withStage(vuDRM: { $0.tokensAreSingleUse = isSingleUse }) { stage in
            _ = try await stage.license(Stage.vuToken)
            let second = try await stage.license(Stage.vuToken)
            #expect(second.status == status)
            #expect(status == 200 || second.code == "tokenUsed")
        }
    }

    @Test(arguments: [
        ([:], LicenseTerms(.lease(.seconds(900)))),
        (["type": "l", "duration_lease": "400"], LicenseTerms(.lease(.seconds(400)))),
        (["duration_lease": "400"], LicenseTerms(.lease(.seconds(400)))),
        (["type": "r", "duration_rental": "500"], LicenseTerms(.rental(.seconds(500)))),
        (["type": "p"], LicenseTerms(.persistent)),
        (["type": "p", "liccache": "no", "duration_persist": "600"], LicenseTerms(.persistentFor(.seconds(600)))),
        (["type": "r", "liccache": "yes"], LicenseTerms(.persistent)),
    ])
    func `the policy's terms reach the device`(_ policy: [String: String], _ terms: LicenseTerms) async throws {
        try await withStage(policy: LicensePolicy(standard: LicenseTerms(.lease(.seconds(900))))) { stage in
            let exchange = try stage.exchange("video")
            let token = stage.vuDRM.token(policy: policy).revealedText
            let reply = try await stage.license(token, exchange)
            #expect(try exchange.open(reply.body, at: stage.time).terms == terms)
        }
    }

    // A single request with such a token ended the server: no `Duration` holds the number (findings S1).
    @Test(
        arguments: ["duration_lease", "duration_rental", "duration_persist"],
        [
            "9223372036854775807", "9223372036854775808", "1e300", #""9223372036854775808""#, #""1e300""#, #""inf""#,
            #""infinity""#, #""-inf""#, #""nan""#, #""0x1p9999""#, "-1", "-1e300", "0", "1e-300",
        ])
    func `a policy's time of any size is answered with a license, and so is the next request`(
        _ name: String, _ number: String
    ) async throws {
        try await withStage { stage in
            let type = ["duration_lease": "l", "duration_rental": "r"][name] ?? "p"
            let policy = Data(#"{"type":"\#(type)","\#(name)":\#(number)}"#.utf8).base64EncodedString()
            for token in ["demo-client|2026-01-01T00:00:00Z|\(policy)|\(Self.hash)", Stage.vuToken] {
                let status = try await stage.license(token).status
                #expect(status == 200)
            }
        }
    }

    @Test func `a time beyond what a license can state is the longest that it can`() async throws {
        try await withStage { stage in
            let exchange = try stage.exchange("video")
            let token = stage.vuDRM.token(policy: ["type": "l", "duration_lease": "1e300"]).revealedText
            let reply = try await stage.license(token, exchange)
            #expect(try exchange.open(reply.body, at: stage.time).terms == LicenseTerms(.lease(.longest)))
        }
    }

    @Test(arguments: [("video", "true", 200), ("audio", "true", 403), ("audio", "false", 200)])
    func `the policy may be for one content id`(_ id: String, _ matches: String, _ status: Int) async throws {
        try await withStage { stage in
            let token = stage.vuDRM.token(policy: ["content_id": id, "match_content_id": matches]).revealedText
            let reply = try await stage.license(token)
            #expect(reply.status == status)
            #expect(status == 200 || reply.code == "notCovered")
        }
    }
}

extension Stage {
    /// A license for the video key in the raw dialect.
    fileprivate func license(_ token: String, _ exchange: KeyExchange? = nil) async throws -> Reply {
        let exchange = try exchange ?? self.exchange("video")
        let headers = ["Content-Type": "application/octet-stream", "x-vudrm-token": token]
        return try await send("POST", "/vudrm/license/video", headers, exchange.spc.revealed)
    }
}
