import Foundation
import LatchkeyFairPlay
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyPackaging
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// The effects of the members of a tenant.
extension SettingCase {
    /// A case of a member below `tenants.*`; places in the configuration are below the demonstration's tenant.
    private static func tenant(
        _ path: String, base: [String: String] = [:], _ with: [String: String], _ without: String, _ expected: String,
        service: (@Sendable (String, Int) -> LoopbackServer.Action)? = nil,
        prepare: @escaping @Sendable (ServerFolder) throws -> Void = { _ in },
        ask: @escaping @Sendable (SettingStage) async throws -> String
    ) -> SettingCase {
        let below = { (members: [String: String]) in
            Dictionary(members.map { ("tenants.demo.\($0.key)", $0.value) }) { $1 }
        }
        return SettingCase(
            "tenants.*.\(path)", base: below(base), below(with), without, expected, service: service, prepare: prepare,
            ask: ask)
    }

    static let tenants: [SettingCase] =
        keys + tokens + callout + packagers + signers + licensee + limits
        + [
            tenant("policy", ["policy": ""], "403 blocked", "200") {
                try await $0.license(for: DemoFolder.blockedViewer)
            },
            tenant("origins", ["origins": #"["https://tv.example"]"#], "*", "https://tv.example") {
                try await $0.player("certificate", headers: ["Origin": "https://tv.example"])
                    .header("Access-Control-Allow-Origin") ?? "none"
            },
        ]

    private static let own = ["licensee": #"{"credentials":[{"folder":"credentials"}]}"#]

    private static let licensee: [SettingCase] =
        ["folder", "certificate", "key", "ask"].map { name in
            tenant(
                "licensee.credentials[].\(name)", base: own, ["licensee.credentials.0.\(name)": #""gone""#], "starts",
                "no start"
            ) { _ in "starts" }
        } + [
            tenant("licensee.derivation", base: own, ["licensee.derivation": #""gone.so""#], "starts", "no start") {
                _ in
                "starts"
            },
            tenant(
                "licensee.module.url", base: own,
                ["licensee.module": #"{"url":"http://127.0.0.1:1/fps"}"#], "the KSM's CKC", "503 moduleUnavailable",
                ask: ModuleService.ask),
            // The server's own credentials are the same files, and not mounted.
            SettingCase(
                start: "tenants.*.licensee.secretMounts",
                base: ["licensee": "", "tenants.demo.licensee": own["licensee"] ?? ""],
                ["tenants.demo.licensee.secretMounts": #"["credentials"]"#], "no start", "starts",
                prepare: { try #require(chmod($0.file("credentials/private-key.pem").path, 0o644) == 0) }),
        ]

    private static let limits: [SettingCase] = [
        tenant("limits.requestsPerSecond", ["limits.requestsPerSecond": "1"], "200", "429") { stage in
            for _ in 0..<5 { _ = try await stage.player("certificate") }
            return "\(try await stage.player("certificate").status)"
        },
        tenant("limits.sessions", ["limits.sessions": "1"], "200 200", "200 429 tenantSessionLimit") { stage in
            "\(try await stage.license(for: "ann")) \(try await stage.license(for: "bob"))"
        },
        tenant("limits.keys", ["limits.keys": "2"], "200", "409") { stage in
            try await stage.importKeys(1...2)
            // An existing key may come again.
            try await stage.importKeys(1...2)
            return "\(try await stage.packager("cpix", TestServer.document(3...3)).status)"
        },
        tenant("limits.licensesPerDay", ["limits.licensesPerDay": "1"], "200 200", "200 429 tenantLicenseLimit") {
            stage in
            "\(try await stage.license(for: "ann")) \(try await stage.license(for: "bob"))"
        },
    ]

    private static let keys: [SettingCase] = [
        tenant("keyURI", ["keyURI": #""skd://other.example/{contentId}/{kid}""#], "standard", "other") {
            let texts = JSONValue.texts(in: try await $0.speke().text, "HLSSignalingData")
            try #require(!texts.isEmpty)
            return texts.contains { $0.contains("other.example") } ? "other" : "standard"
        },
        tenant("clearKeyURI", ["clearKeyURI": #""https://keys.example/{contentId}/{kid}""#], "422", "200") {
            "\(try await $0.speke(scheme: "cbc1", system: "3ea8778f-7742-4bf9-b18b-e834b2acbd47").status)"
        },
        tenant("clearKey", ["clearKey": "false"], "200", "403") { stage in
            try #require(try await stage.speke().status == 200)
            let kid = Base64URL.text(try #require(KeyID(TestServer.derivedKid)).bytes)
            let reply = try await stage.stage.player(
                "clearkey", "POST",
                body: Data(#"{"kids":["\#(kid)"],"type":"temporary"}"#.utf8), bearer: stage.stage.token())
            return "\(reply.status)"
        },
        tenant("slots", ["slots": #""players""#], "403 right", "200") { stage in
            let reply = try await stage.stage.player(
                "slots", "POST",
                body: Data(#"{"drm":"widevine","asset":"movie"}"#.utf8), bearer: stage.stage.token())
            return [String(reply.status), JSONValue(reply.body)?["error"]?["code"]?.text].compactMap(\.self)
                .joined(separator: " ")
        },
        tenant("keys", base: ["unlisted": ""], ["keys": #""stored""#], "the same key", "another key") { stage in
            let first = try await stage.speke()
            try #require(first.status == 200)
            try #require(try await stage.admin("tenants/demo/keys/\(TestServer.derivedKid)", "DELETE").status == 200)
            let second = try await stage.speke()
            return try plainKey(first) == plainKey(second) ? "the same key" : "another key"
        },
        tenant("unlisted", ["unlisted": #""refuse""#], "200", "404 unknownKey") { try await $0.license() },
        tenant("plainKeys", ["plainKeys": "false"], "200 200", "422 403") { stage in
            try await stage.importKeys(1...1)
            return "\(try await stage.speke().status) \(try await stage.packager("cpix?content=film").status)"
        },
        tenant("recipients", ["recipients": #"["\#(String(repeating: "0", count: 64))"]"#], "200 200", "422 403") {
            stage in
            try await stage.importKeys(1...1)
            let der = try Data(contentsOf: URL(filePath: stage.stage.folder.credentials + "/certificate.der"))
            let certificate = der.base64EncodedString()
            let delivery = """
                <cpix:DeliveryDataList xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><cpix:DeliveryData id="d">\
                <cpix:DeliveryKey><ds:X509Data><ds:X509Certificate>\(certificate)</ds:X509Certificate></ds:X509Data>\
                </cpix:DeliveryKey></cpix:DeliveryData></cpix:DeliveryDataList>
                """
            let export = try await stage.packager("cpix?content=film", more: ["X-Recipient-Certificate": certificate])
            return "\(try await stage.speke(delivery: delivery).status) \(export.status)"
        },
        tenant(
            "importRecipients[].certificate",
            ["importRecipients": #"[{"certificate":"gone.der","key":"credentials/private-key.pem"}]"#], "starts",
            "no start"
        ) { _ in "starts" },
        tenant(
            "importRecipients[].key",
            ["importRecipients": #"[{"certificate":"credentials/certificate.der","key":"gone.pem"}]"#], "starts",
            "no start"
        ) { _ in "starts" },
        tenant("widevineProvider", ["widevineProvider": #""acme-tv""#], "unnamed", "named") { stage in
            let reply = try await stage.speke(system: "edef8ba9-79d6-4ace-a3c8-27dcd51d21ed")
            return try box(reply).range(of: Data("acme-tv".utf8)) == nil ? "unnamed" : "named"
        },
        tenant("playReadyURL", ["playReadyURL": #""https://pr.example/rights""#], "unnamed", "named") { stage in
            let reply = try await stage.speke(system: "9a04f079-9840-4286-ab92-e65be0885f95")
            let address = try #require("pr.example".data(using: .utf16LittleEndian))
            return try box(reply).range(of: address) == nil ? "unnamed" : "named"
        },
    ]

    private static let tokens: [SettingCase] = [
        tenant(
            "tokens.keys", ["tokens.keys": #""other.json""#], "200", "401",
            prepare: { folder in
                let key = Base64URL.text([UInt8](repeating: 7, count: 32))
                let set = #"{"keys":[{"kty":"oct","kid":"demo","alg":"HS256","k":"\#(key)"}]}"#
                try folder.write(secret: set, to: "other.json")
            }
        ) { try await status($0.license()) },
        tenant(
            "tokens.refresh", base: ["tokens.keys": #""https://127.0.0.1:{service}/""#], ["tokens.refresh": #""1m""#],
            "after 300.0", "after 60.0", service: { _, _ in .send("HTTP/1.0 200 OK\r\n\r\n") }
        ) { stage in
            let refresh = try #require(stage.server.current.settings.tenants["demo"]?.tokens.refresh)
            await stage.time.untilSomeoneSleeps(for: refresh)
            return "after \(refresh.inSeconds)"
        },
        tenant("tokens.algorithms", ["tokens.algorithms": #"["ES256"]"#], "200", "no start") {
            try await status($0.license())
        },
        tenant("tokens.audiences", ["tokens.audiences": #"["tv"]"#], "200 200", "200 401") { stage in
            let right = try await status(stage.license(["aud": .text("tv")]))
            return "\(right) \(try await status(stage.license(["aud": .text("radio")])))"
        },
        tenant("tokens.issuers", ["tokens.issuers": #"["us"]"#], "200 200", "200 401") { stage in
            let right = try await status(stage.license(["iss": .text("us")]))
            return "\(right) \(try await status(stage.license(["iss": .text("them")])))"
        },
        tenant("tokens.type", ["tokens.type": #""license+jwt""#], "200", "401") { try await status($0.license()) },
        tenant("tokens.leeway", ["tokens.leeway": #""0s""#], "200", "401") {
            // The clock of the token's maker is ten seconds fast.
            try await status($0.license(age: -10))
        },
        tenant("tokens.longestLife", ["tokens.longestLife": #""59m""#], "200", "401") {
            try await status($0.license())
        },
    ]

    private static let calloutURL = #""http://127.0.0.1:{service}/""#

    private static let callout: [SettingCase] = [
        tenant(
            "callout.url", ["callout": #"{"url":\#(calloutURL)}"#], "200", "403 notEntitled",
            service: { _, _ in .send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") }
        ) { try await $0.license() },
        tenant(
            "callout.token", base: ["callout": #"{"url":\#(calloutURL)}"#], ["callout.token": #""callout.txt""#],
            "403 notEntitled", "200",
            service: { request, _ in
                let isRight = request.lowercased().contains("authorization: bearer callout-token")
                return .send("HTTP/1.1 \(isRight ? 200 : 403) X\r\nContent-Length: 0\r\n\r\n")
            }, prepare: { try $0.write(secret: "callout-token\n", to: "callout.txt") }
        ) { try await $0.license() },
        tenant(
            "callout.timeout", base: ["callout": #"{"url":\#(calloutURL)}"#], ["callout.timeout": #""3s""#],
            "503 after 1.0", "503 after 3.0", service: { _, _ in .hang }
        ) { stage in
            let limit = try #require(stage.server.current.settings.tenants["demo"]?.callout?.timeout)
            async let answer = stage.license()
            await stage.time.untilSomeoneSleeps(for: limit)
            stage.time.advance(by: limit)
            return "\(try await status(answer)) after \(limit.inSeconds)"
        },
        tenant(
            "callout.memory", base: ["callout": #"{"url":\#(calloutURL)}"#], ["callout.memory": #""0s""#],
            "asked once", "asked twice", service: { _, _ in .send("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n") }
        ) { stage in
            for _ in 0..<2 { try #require(try await stage.license() == "200") }
            return stage.service?.requests.count == 1 ? "asked once" : "asked twice"
        },
    ]

    private static let packagers: [SettingCase] = [
        tenant("packagers[].name", ["packagers.0.name": #""encoder-7""#], "caller:demo", "caller:encoder-7") { stage in
            try #require(try await stage.speke().status == 200)
            let entry = try #require(try await stage.server.shared.engines.audit.last())
            return JSONValue(Data(entry.text.utf8))?["actor"]?.text ?? "nobody"
        },
        tenant("packagers[].apiKey", ["packagers.0.apiKey": #""\#(digest("another"))""#], "401 200", "200 401") {
            stage in
            let other = try await stage.packager("speke/heartbeat", headers: ["X-API-Key": "another"])
            return "\(other.status) \(try await stage.packager("speke/heartbeat").status)"
        },
        tenant("packagers[].basic", ["packagers.0.basic": #""\#(digest("encoder:secret"))""#], "401", "200") { stage in
            let credentials = Data("encoder:secret".utf8).base64EncodedString()
            return
                "\(try await stage.packager("speke/heartbeat", headers: ["Authorization": "Basic \(credentials)"]).status)"
        },
        SettingCase(
            "tenants.*.packagers[].certificate", base: ["trustedProxies": #"["127.0.0.0/8"]"#],
            ["tenants.demo.packagers.0.certificate": #""\#(digest("certificate"))""#], "401", "200"
        ) {
            "\(try await $0.packager("speke/heartbeat", headers: ["X-Client-Cert-SHA256": digest("certificate")]).status)"
        },
        SettingCase(
            "tenants.*.packagers[].certificate",
            base: ["tenants.demo.packagers.0.certificate": #""\#(digest("certificate"))""#],
            ["trustedProxies": #"["127.0.0.0/8"]"#], "401", "200"
        ) {
            "\(try await $0.packager("speke/heartbeat", headers: ["X-Client-Cert-SHA256": digest("certificate")]).status)"
        },
        tenant("packagers[].rights", ["packagers.0.rights": #"["keys:import"]"#], "200 200", "403 403") { stage in
            let export = try await stage.packager("cpix?content=film")
            return "\(try await stage.speke().status) \(export.status == 404 ? 200 : export.status)"
        },
    ]

    private static let signers: [SettingCase] = [
        // With signers the key of a packager is not enough, and for SPEKE it is still needed.
        tenant(
            "signers.*.key", ["signers": #"{"us":{"key":"signer.hex","iv":"\#(iv)"}}"#], "OK 200 401",
            "SIGNATURE_FAILED 200 401", prepare: writeSigner
        ) { stage in
            let key = try await stage.commonEncryption()
            return "\(key) \(try await stage.speke().status) \(try await stage.speke(headers: [:]).status)"
        },
        tenant(
            "signers.*.key", base: ["signers": #"{"us":{"key":"other.hex","iv":"\#(iv)"}}"#],
            ["signers.us.key": #""signer.hex""#], "SIGNATURE_FAILED", "OK", prepare: writeSigner, ask: signed),
        tenant(
            "signers.*.iv",
            base: ["signers": #"{"us":{"key":"signer.hex","iv":"\#(String(repeating: "0", count: 32))"}}"#],
            ["signers.us.iv": #""\#(iv)""#], "SIGNATURE_FAILED", "OK", prepare: writeSigner, ask: signed),
    ]

    // MARK: - Questions

    private static let iv = String(repeating: "02", count: 16)

    private static let writeSigner: @Sendable (ServerFolder) throws -> Void = { folder in
        try folder.write(secret: String(repeating: "01", count: 32), to: "signer.hex")
        try folder.write(secret: String(repeating: "03", count: 32), to: "other.hex")
    }

    private static let signed: @Sendable (SettingStage) async throws -> String = { stage in
        let signer = try #require(
            CommonEncryptionSigner(key: Secret([UInt8](repeating: 1, count: 32)), iv: [UInt8](repeating: 2, count: 16)))
        return try await stage.commonEncryption(key: false) { request in
            #","signature":"\#(try Data(signer.signature(of: Array(request))).base64EncodedString())","signer":"us""#
        }
    }

    @Sendable private static func digest(_ text: String) -> String {
        ((try? MessageDigest.sha256(Array(text.utf8))) ?? []).hexString
    }

    /// A license's status alone.
    @Sendable private static func status(_ word: String) -> String { String(word.prefix(3)) }

    private static func plainKey(_ reply: HTTPReply) throws -> String {
        try #require(JSONValue.texts(in: reply.text, "PlainValue").first)
    }

    private static func box(_ reply: HTTPReply) throws -> Data {
        try #require(JSONValue.texts(in: reply.text, "PSSH").first.flatMap { Data(base64Encoded: $0) }, "\(reply.text)")
    }
}

extension JSONValue {
    /// The texts of an XML document's elements of a name, in base64 or plain.
    fileprivate static func texts(in document: String, _ name: String) -> [String] {
        document.split(separator: "<").compactMap { part in
            guard let end = part.firstIndex(of: ">"), !part.hasPrefix("/") else { return nil }
            let tag = part[..<end].split(separator: " ").first?.split(separator: ":").last
            guard tag == name[...] else { return nil }
            let text = String(part[part.index(after: end)...])
            return Data(base64Encoded: text).flatMap { String(data: $0, encoding: .utf8) } ?? text
        }
    }
}
