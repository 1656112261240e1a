import Foundation
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyVendors
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVendorWire
@testable import TestServers

/// The members of vendors' APIs, asked with tokens as the vendors' customers make them.
@Suite(.timeLimit(.minutes(2))) struct VendorAPISettingTests {
    private static let secret = "0123456789abcdef0123456789abcdef"
    private static let place = "tenants.demo.vendors"

    private static let prepare: @Sendable (ServerFolder) throws -> Void = { folder in
        for name in ["a.txt", "b.txt"] { try folder.write(secret: secret, to: name) }
    }

    private static func api(
        _ path: String, _ api: String, _ with: String, _ without: String, _ expected: String,
        ask: @escaping @Sendable (SettingStage) async throws -> String
    ) -> SettingCase {
        let name = path.split(separator: ".")[0]
        return SettingCase(
            path, base: ["\(place).\(name)": api], ["\(place).\(path)": with], without, expected, prepare: prepare,
            ask: ask)
    }

    private static let vuDRM = #"{"client":"acme","secret":"a.txt"}"#
    private static let drmToday = #"{"merchant":"acme","key":"a.txt"}"#
    private static let doveRunner = #"{"site":"ACME","accessKey":"a.txt","siteKey":"b.txt"}"#

    static let cases: [SettingCase] = [
        api("vudrm.client", vuDRM, #""other""#, "certificate", "none") {
            try await certificate("vudrm/certificate/acme", $0)
        },
        api("vudrm.tokenLife", vuDRM, #""5m""#, "refused", "license") { try await vuDRM($0, ages: [100]) },
        api("vudrm.singleUse", vuDRM, "false", "license refused", "license license") {
            try await vuDRM($0, ages: [0, 0])
        },
        api("drmtoday.merchant", drmToday, #""other""#, "certificate", "none") {
            try await certificate("drmtoday/license-server-fairplay/cert/acme", $0)
        },
        api("drmtoday.tokenLife", drmToday, #""1m""#, "license", "refused") { try await drmToday($0, ages: [100]) },
        api("drmtoday.singleUse", drmToday, "true", "license license", "license refused") {
            try await drmToday($0, ages: [0, 0], sessions: ["s-1", "s-2"])
        },
        api("doverunner.site", doveRunner, #""OTHR""#, "certificate", "none") {
            try await certificate("doverunner/ri/fpsCert.do?siteId=ACME", $0)
        },
    ]

    @Test(arguments: cases)
    func `each member of a vendor's API has an effect`(_ one: SettingCase) async throws {
        let without = try await one.answer(one.base)
        #expect(without == one.without)
        let with = try await one.answer(one.base.merging(one.with) { $1 })
        #expect(with == one.expected)
    }

    @Test func `a request whose address names another key than its SPC gets none`() async throws {
        let one = SettingCase("vudrm", ["\(Self.place).vudrm": Self.vuDRM], "", "", prepare: Self.prepare) { stage in
            try #require(try await stage.speke().status == 200)
            try await stage.importKeys(1...1)
            let (movie, film) = (TestServer.derivedKid, TestServer.kid(1))
            var words: [String] = []
            for (named, sealed) in [(movie, movie), (film, film), (movie, film), (film, movie)] {
                words.append(try await Self.vuDRM(stage, Self.vuDRMToken(stage), named: named, sealed: sealed))
            }
            return words.joined(separator: " ")
        }
        #expect(try await one.answer(one.with) == "200 200 403 403")
    }

    // MARK: - Questions

    @Sendable private static func certificate(_ path: String, _ stage: SettingStage) async throws -> String {
        try await stage.player(path).body.count > 500 ? "certificate" : "none"
    }

    /// Sends one token as often as ages are given.
    @Sendable private static func vuDRM(_ stage: SettingStage, ages: [TimeInterval]) async throws -> String {
        let token = try vuDRMToken(stage, age: ages.first ?? 0)
        // Vendors' players name the key alone, so it has to exist.
        try #require(try await stage.speke().status == 200)
        var words: [String] = []
        for _ in ages {
            let status = try await vuDRM(stage, token, named: TestServer.derivedKid, sealed: TestServer.derivedKid)
            words.append(status == "200" ? "license" : "refused")
        }
        return words.joined(separator: " ")
    }

    private static func vuDRMToken(_ stage: SettingStage, age: TimeInterval = 0) throws -> String {
        let policy = Data(#"{"user_id":"ann","session_id":"s","n":"\#(UUID())"}"#.utf8).base64EncodedString()
        let time = Date(timeIntervalSince1970: (stage.time.date - age).timeIntervalSince1970.rounded())
        let text = "acme|\(time.formatted(.iso8601))|\(policy)"
        return "\(text)|\(try #require(VuDRMToken.hash(of: Array(text.utf8), Secret(secret))).hexString)"
    }

    /// The status for a request with keys in its address and its SPC.
    private static func vuDRM(
        _ stage: SettingStage, _ token: String, named: String, sealed: String
    ) async throws -> String {
        let reply = try await stage.stage.player(
            "vudrm/license/\(named)", "POST",
            body: stage.stage.exchange("skd://keys.example/license/\(sealed)").spc.revealed,
            headers: ["Content-Type": "application/octet-stream", "X-VUDRM-Token": token])
        return "\(reply.status)"
    }

    @Sendable private static func drmToday(
        _ stage: SettingStage, ages: [TimeInterval], sessions: [String] = ["s-1"]
    ) async throws -> String {
        let kid = try #require(KeyID(TestServer.derivedKid))
        // Vendors' players name the key alone, so it has to exist.
        try #require(try await stage.speke().status == 200)
        var words: [String] = []
        let number = UUID().uuidString
        for (age, session) in zip(ages, sessions) {
            let claims: [String: JSONValue] = [
                "crt": .text(#"[{"assetId":"movie"}]"#),
                "optData": .text(#"{"userId":"ann","merchant":"acme","sessionId":"\#(session)"}"#),
                "jti": .text(number),
                "iat": .number((stage.time.date.timeIntervalSince1970 - age).rounded(.down)),
            ]
            let token = JSONWebToken.text(claims: .object(claims), key: Secret(secret), algorithm: "HS512")
            let exchange = try stage.stage.exchange(
                "skd://drmtoday?assetId=movie&variantId=&keyId=\(kid.bytes.hexString)&keyRotationId=0")
            let spc = exchange.spc.revealed.base64EncodedString().replacing("+", with: "%2B").replacing(
                "=", with: "%3D")
            let reply = try await stage.stage.player(
                "drmtoday/license-server-fairplay/", "POST",
                body: Data("spc=\(spc)&assetId=movie&keyId=\(kid.bytes.hexString)".utf8),
                headers: ["Content-Type": "application/x-www-form-urlencoded", "x-dt-auth-token": token])
            words.append(reply.status == 200 ? "license" : "refused")
        }
        return words.joined(separator: " ")
    }
}
