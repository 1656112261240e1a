import Foundation
import LatchkeyDecision
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeySystem
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVendorWire
@testable import TestServers

/// A tenant of which everything has a name that nothing of another has.
struct Owner: Sendable, Equatable, CustomTestStringConvertible {
    let name: String
    /// The first digit of all its kids.
    let digit: String

    static let amber = Owner(name: "amber", digit: "a")
    static let bronze = Owner(name: "bronze", digit: "b")
    static let both = [amber, bronze]

    var other: Owner { self == .amber ? .bronze : .amber }
    var testDescription: String { name }

    func kid(_ number: Int) -> String { kidsBegin + TestServer.kid(number).dropFirst(24) }
    private var kidsBegin: String { String(repeating: digit, count: 8) + "-0000-0000-0000-" }
    func document(_ numbers: some Sequence<Int>, of content: String) -> String {
        TestServer.document(numbers, of: content).replacing("00000000-0000-0000-0000-", with: kidsBegin)
    }

    var packagerKey: String { "key-of-\(name)-packager" }
    /// 32 bytes.
    var secret: String { "\(name)-secret".padding(toLength: 32, withPad: digit, startingAt: 0) }
    func token(_ claims: [String: JSONValue] = [:], at date: Date = Date()) throws -> String {
        let now = date.timeIntervalSince1970.rounded(.down)
        let usual: [String: JSONValue] = [
            "sub": .text("\(name)-ann"), "jti": .text("\(name)-\(UUID())"), "sid": .text("\(name)-\(UUID())"),
            "iat": .number(now), "exp": .number(now + 3_600),
            "latchkey": .object(["device": .text("\(name)-tv")]),
        ]
        let signer = try TokenSigner(.hs256, id: TokenKeyID("\(name)-key"), secret: Secret(secret))
        return try signer.token(usual.merging(claims) { $1 }).revealedText
    }

    /// The texts that identify it, in lower case: its name, which all other names contain, its kids, its certificate.
    func traces(_ certificate: FairPlayCertificate) -> [String] {
        [
            name, String(repeating: digit, count: 8) + "-0000", String(repeating: digit, count: 8) + "0000",
            certificate.fingerprint.hexString, certificate.der.base64EncodedString().prefix(40).lowercased(),
        ]
    }
}

/// An operator of the server.
struct StagedOperator: Sendable, CustomTestStringConvertible {
    let role: AdminRole
    /// `nil` for all tenants.
    let owner: Owner?

    static let all: [StagedOperator] = AdminRole.allCases.flatMap { role in
        [Owner.amber, .bronze, nil].map { StagedOperator(role: role, owner: $0) }
    }

    var name: String { "\(owner?.name ?? "whole")-\(role.rawValue)" }
    var key: String { "key-of-\(name)" }
    var testDescription: String { name }
    func covers(_ owner: Owner) -> Bool { self.owner == nil || self.owner == owner }
}

/// A server with two tenants, each with its own credentials, policy, packager, vendors' APIs, keys, viewer and three operators, and with
/// three operators of both tenants.
struct TenantStage: Sendable {
    let stage: TestServer
    /// The certificate of each tenant, and one that belongs to neither.
    let certificates: [String: FairPlayCertificate]

    var server: LicenseServer { stage.server }

    // Making RSA keys takes longer than starting a server.
    private static let credentials: [String: Result<TestCredentials, any Error>] = Dictionary(
        uniqueKeysWithValues: ["amber", "bronze", "stranger"].map { name in
            (name, Result { try TestCredentials.make(bits: 1_024) })
        })

    /// - Parameters:
    ///   - more: more members of both tenants.
    ///   - whole: more members of the configuration.
    init(more: String = "", whole: String = "") async throws {
        certificates = try Self.credentials.mapValues { try $0.get().credential.certificate }
        stage = try await TestServer(prepare: { folder in
            try folder.write(Self.configuration(more, whole), to: "server.json")
            try Self.prepare(folder)
        })
    }

    private static func prepare(_ folder: ServerFolder) throws {
        for (name, one) in credentials { try one.get().write(to: folder.file("\(name)-credentials")) }
        for owner in Owner.both {
            let policy = "policies/\(owner.name)-terms.json"
            try folder.write(folder.text("policies/demo.json"), to: policy)
            try folder.edit(
                ["name": "\(owner.name)-terms", "devices.limit": 9, "concurrency.mode": "stopOldest"], in: policy)
            let key = Base64URL.text(Array(owner.secret.utf8))
            let set = #"{"keys":[{"kty":"oct","kid":"\#(owner.name)-key","alg":"HS256","use":"sig","k":"\#(key)"}]}"#
            try folder.write(secret: set, to: "\(owner.name)-jwks.json")
            try folder.write(secret: owner.secret, to: "\(owner.name)-secret.txt")
            let long = Data((owner.secret + owner.secret).utf8.prefix(48)).base64EncodedString()
            try folder.write(secret: long, to: "\(owner.name)-long.txt")
        }
    }

    static func digest(_ key: String) throws -> String { try MessageDigest.sha256(Array(key.utf8)).hexString }

    private static func configuration(_ more: String, _ whole: String) throws -> String {
        let admins = try StagedOperator.all.map { one in
            let tenants = one.owner.map { #"["\#($0.name)"]"# } ?? #""all""#
            return
                #"{"name":"\#(one.name)","key":"\#(try digest(one.key))","role":"\#(one.role.rawValue)","tenants":\#(tenants)}"#
        }
        let vendors = VendorAPIKind.all.filter(\.takesTenantTokens).map { #""\#($0.name.rawValue)":{}"# }
        let tenants = try Owner.both.map { owner in
            let name = owner.name
            return """
                "\(name)":{"policy":"\(name)-terms","licensee":{"credentials":[{"folder":"\(name)-credentials"}]},
                 "tokens":{"keys":"\(name)-jwks.json","longestLife":"1d"},"clearKey":true,"origins":["https://\(name).example"],
                 "packagers":[{"name":"\(name)-packager","apiKey":"\(try digest(owner.packagerKey))",
                  "rights":["speke:read","common-encryption:read","keys:import","keys:export"]}],
                 "vendors":{"vudrm":{"client":"\(name)-client","secret":"\(name)-secret.txt"},
                  "axinom":{"keyId":"\(owner.kid(900))","key":"\(name)-long.txt"},
                  "doverunner":{"site":"\(name.prefix(4))","accessKey":"\(name)-secret.txt","siteKey":"\(name)-secret.txt"},
                  "drmtoday":{"merchant":"\(name)-shop","key":"\(name)-secret.txt"},
                  \(vendors.joined(separator: ","))}\(more)}
                """
        }
        return """
            {"version":1,"players":{"port":0},"packagers":{"port":0},"operators":{"port":0},
             "stores":{"sessions":"sqlite:latchkey.db","keys":"sqlite:latchkey.db","audit":"sqlite:latchkey.db","sessionMilliseconds":10000},
             "keyEncryptionKey":{"id":"demo","file":"kek.hex"},"nodeSecret":{"file":"node-secret.hex"},
             "policies":"policies","drainDelay":"0s","limits":{"perAddress":0},\(whole)
             "admins":[\(admins.joined(separator: ","))],"tenants":{\(tenants.joined(separator: ","))}}
            """
    }
}

// Requests.
extension TenantStage {
    /// Waits until the record can be asked for both tenants' viewers.
    func recorded() async throws {
        for owner in Owner.both {
            let path = "admin/v1/tenants/\(owner.name)/report?by=account&last=1h"
            while try await !admin(path, by: .all.last).text.contains("\(owner.name)-ann") {
                try Task.checkCancellation()
            }
        }
    }

    func admin(
        _ path: String, _ method: String = "GET", body: String? = nil, by one: StagedOperator?
    ) async throws -> HTTPReply {
        try await stage.send(
            "\(server.addresses.operators.url)/\(path)", method: method, body: body.map { Data($0.utf8) },
            bearer: one?.key)
    }

    func packager(
        _ path: String, _ method: String = "GET", body: String? = nil, at tenant: String, by owner: Owner?
    ) async throws -> HTTPReply {
        try await stage.packager(
            path, method, body: body,
            headers: ["X-Speke-Version": "2.0", "Content-Type": "application/xml", "X-Request-Id": "same-request"],
            credentials: owner.map { ["X-API-Key": $0.packagerKey] } ?? [:], at: tenant)
    }

    func player(
        _ path: String, _ method: String = "POST", body: Data? = nil, at tenant: String, bearer: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> HTTPReply {
        try await stage.player(
            path, method, body: body, bearer: bearer,
            headers: headers.merging(["X-Request-Id": "same-request"]) { one, _ in one }, at: tenant)
    }

    /// An SPC for a tenant's certificate, or the stranger's, and for a key of a tenant.
    func spc(_ certificate: String, _ owner: Owner, _ number: Int = 1) throws -> Data {
        let folder = stage.folder.file("\(certificate)-credentials")
        var generator = SystemRandomNumberGenerator()
        let identifier = ContentIdentifier("skd://\(owner.name)-film/\(owner.kid(number))")
        return try SimulatedDevice(directory: folder).exchange(for: identifier, using: &generator).spc.revealed
    }

    /// A license through Clear Key.
    /// - Parameter session: the playback's; a new one if absent.
    func play(
        _ owner: Owner, _ number: Int = 1, session: String? = nil, requestID: String = "same-request"
    ) async throws -> HTTPReply {
        let kid = Base64URL.text(try #require(KeyID(owner.kid(number))).bytes)
        return try await player(
            "clearkey", body: Data(#"{"kids":["\#(kid)"],"type":"temporary"}"#.utf8), at: owner.name,
            bearer: owner.token(session.map { ["sid": .text($0)] } ?? [:]),
            headers: ["X-Request-Id": requestID, "Content-Type": "application/json"])
    }

    /// The session of a tenant's viewer, who starts playing if none is.
    func session(_ owner: Owner) async throws -> String {
        #expect(try await play(owner).status == 200)
        let account = try await server.shared.operatorAccounts.account("\(owner.name)-ann", of: owner.name)
        return try #require(account.slots.max { $0.started < $1.started }?.session)
    }

    /// A token of VuDRM for a tenant's viewer.
    func vuDRMToken(_ owner: Owner) throws -> String {
        let policy = Data(#"{"user_id":"\#(owner.name)-ann","session_id":"s","n":"\#(UUID())"}"#.utf8)
            .base64EncodedString()
        let time = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded())
        let text = "\(owner.name)-client|\(time.formatted(.iso8601))|\(policy)"
        return "\(text)|\(try #require(VuDRMToken.hash(of: Array(text.utf8), Secret(owner.secret))).hexString)"
    }

    /// Which traces of a tenant a reply has.
    func traces(of owner: Owner, in reply: HTTPReply) throws -> [String] {
        let text = (reply.text + reply.headers.map { "\n\($0.name): \($0.value)" }.joined()).lowercased()
        return try owner.traces(#require(certificates[owner.name])).filter { text.contains($0) }
    }

    /// Gives both tenants keys, a playing viewer, and a refusal, each with requests that contain its name.
    func live() async throws {
        for owner in Owner.both {
            let document = owner.document(Array(1...2), of: "\(owner.name)-film")
            let imported = try await packager("cpix", "POST", body: document, at: owner.name, by: owner)
            #expect(imported.status == 200, "\(imported.text)")
            #expect(try await play(owner, requestID: "\(owner.name)-request").status == 200)
            #expect(try await play(owner, 77, requestID: "\(owner.name)-refused").status == 404)
            let license = try await player(
                "fairplay", body: spc(owner.name, owner), at: owner.name, bearer: owner.token())
            #expect(license.status == 200, "\(license.text)")
        }
    }
}
