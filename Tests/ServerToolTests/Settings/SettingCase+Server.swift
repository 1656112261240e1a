import Foundation
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyVendors
import TLSPeer
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// The effects of a configuration's members outside its tenants.
extension SettingCase {
    static let server: [SettingCase] =
        listeners + stores + wrapping + keySources + licensee
        + [
            SettingCase(start: "version", ["version": "2"], "starts", "no start"),
            SettingCase(start: "policies", ["policies": ""], "starts", "no start"),
            SettingCase(
                "nodeSecret.file", base: ["nodeSecret": ""], ["nodeSecret": #"{"file":"token-key.hex"}"#], "401", "200",
                ask: heartbeatAfterRestart),
            SettingCase("node", ["node": #""edge-1""#], "the host's", "edge-1") { stage in
                let name = try await stage.admin("overview").json["node"]?.text ?? ""
                return name == ProcessInfo.processInfo.hostName ? "the host's" : name
            },
            SettingCase(
                "trustedProxies", ["trustedProxies": #"["127.0.0.0/8"]"#], "403 place", "200",
                prepare: policy(#""place":{"addresses":["203.0.113.0/24"]}"#)
            ) { try await $0.license(headers: ["X-Forwarded-For": "203.0.113.7"]) },
            SettingCase(
                "countryHeader", base: ["trustedProxies": #"["127.0.0.0/8"]"#], ["countryHeader": #""CF-IPCountry""#],
                "200", "403 place", prepare: policy(#""place":{"deny":["FR"],"whenUnknown":"allow"}"#)
            ) { try await $0.license(headers: ["CF-IPCountry": "FR"]) },
            SettingCase("keepAlive", ["keepAlive": #""90s""#], "15 15 15", "90 90 90", ask: idleTimes),
            // Proxies keep connections for a minute.
            SettingCase(
                "trustedProxies", ["trustedProxies": #"["127.0.0.0/8"]"#], "15 15 15", "75 75 75", ask: idleTimes),
            SettingCase(
                "limits.perAddress", base: ["limits.perAddress": "0"], ["limits.perAddress": "1"], "200", "429",
                ask: sixthRequest),
            SettingCase("limits.perTenant", ["limits.perTenant": "1"], "200", "429", ask: sixthRequest),
            SettingCase("admins[].name", ["admins.0.name": #""olga""#], "demo", "olga") { stage in
                _ = try await stage.admin("reload", "POST")
                let entry = try #require(try await stage.server.shared.engines.audit.last())
                _ = try await stage.admin("sign-in", "POST")
                let last = try #require(try await stage.server.shared.engines.audit.last())
                #expect(entry.sequence < last.sequence)
                return last.text.contains("olga") ? "olga" : "demo"
            },
            SettingCase(
                "admins[].key", ["admins.0.key": #""\#(String(repeating: "0", count: 64))""#], "200", "401"
            ) { "\(try await $0.admin("overview").status)" },
            SettingCase("admins[].role", ["admins.0.role": #""viewer""#], "200", "403") {
                "\(try await $0.admin("reload", "POST").status)"
            },
            SettingCase("admins[].tenants", ["admins.0.tenants": #"["demo"]"#], "200", "403") {
                "\(try await $0.admin("reload", "POST").status)"
            },
            SettingCase(start: "cryptoMB", ["cryptoMB": #""./gone.so""#], "starts", "no start"),
            SettingCase("threads", base: ["threads": "3"], ["threads": "5"], "96 at once", "160 at once") {
                "\($0.server.shared.requestLimit.limit) at once"
            },
        ]

    private static let listeners: [SettingCase] = ["players", "packagers", "operators"].flatMap { name in
        [
            SettingCase(
                "\(name).address", ["\(name).address": #""127.0.0.2""#], "127.0.0.1 answers", "127.0.0.2 answers"
            ) {
                let place = address(of: name, $0)
                let reply = try await $0.stage.send("\(place)/nothing")
                return "\(URL(string: place)?.host() ?? "") \(reply.status == 404 ? "answers" : "\(reply.status)")"
            },
            // The service has the port already.
            SettingCase(
                start: "\(name).port", ["\(name).port": "{service}"], "starts", "no start", service: { _, _ in .hang }),
            SettingCase(
                "\(name).certificate", ["\(name).certificate": #""a.pem""#, "\(name).privateKey": #""a-key.pem""#],
                "plain", "TLS", prepare: { try SelfSigned().write("a", to: $0.url) }
            ) { stage in
                let place = address(of: name, stage)
                guard let port = URL(string: place)?.port.flatMap({ UInt16(exactly: $0) }) else { return "nowhere" }
                return (try? await TLSConnection.open(port)) == nil ? "plain" : "TLS"
            },
            SettingCase(
                start: "\(name).privateKey",
                base: ["\(name).certificate": #""a.pem""#, "\(name).privateKey": #""a-key.pem""#],
                ["\(name).privateKey": #""b-key.pem""#], "starts", "no start",
                prepare: { folder in
                    try SelfSigned().write("a", to: folder.url)
                    try SelfSigned().write("b", to: folder.url)
                }),
        ]
    }

    @Sendable private static func address(of listener: String, _ stage: SettingStage) -> String {
        let addresses = stage.server.addresses
        return switch listener {
        case "players": addresses.players.url
        case "packagers": addresses.packagers.url
        default: addresses.operators.url
        }
    }

    private static let stores: [SettingCase] = [
        SettingCase("stores.sessions", ["stores.sessions": #""memory""#], "1 session", "0 sessions") { stage in
            try #require(try await stage.license() == "200")
            return try await stage.afterRestart {
                try await $0.server.shared.operatorAccounts.sessionCount(of: "demo", most: 100).value.counted("session")
            }
        },
        SettingCase(
            "stores.regions", base: ["stores.sessions": ""],
            ["stores.regions": #"{"eu":"sqlite:eu.db","us":"sqlite:us.db"}"#, "stores.region": #""us""#],
            "one place", "us: eu 1, us 1"
        ) { stage in
            // Of the two, one is at home in each region.
            for viewer in ["anna", "dora"] { try #require(try await stage.license(for: viewer) == "200") }
            guard let regions = stage.server.shared.engines.sessions as? RegionalRecordStore else { return "one place" }
            var counts: [String] = []
            for (name, store) in regions.stores.sorted(by: { $0.key < $1.key }) {
                counts.append("\(name) \(try await store.count(of: .account, "demo", most: 0) { _ in [] }.value)")
            }
            let region = JSONValue(try await stage.admin("overview").body)?["region"]?.text ?? ""
            return "\(region): \(counts.joined(separator: ", "))"
        },
        SettingCase(
            start: "stores.region", base: ["stores.sessions": "", "stores.regions": #"{"eu":"sqlite:eu.db"}"#],
            ["stores.region": #""eu""#], "no start", "starts"),
        SettingCase(
            "stores.keys", ["stores.keys": #""memory""#, "keyEncryptionKey": ""], "the same key", "another key"
        ) { stage in
            let first = try await stage.key()
            return try await stage.afterRestart { try await $0.key() == first ? "the same key" : "another key" }
        },
        // Only keys in memory need nothing that seals them.
        SettingCase(
            start: "stores.keys", base: ["keyEncryptionKey": ""], ["stores.keys": #""memory""#], "no start", "starts"),
        SettingCase("stores.audit", ["stores.audit": #""memory""#], "remembers", "forgets") { stage in
            _ = try await stage.admin("sign-in", "POST")
            return try await stage.afterRestart { stage in
                let entries = try await stage.server.shared.engines.audit.entries(from: 1, limit: 100)
                return entries.contains { $0.text.contains("adminLogin") } ? "remembers" : "forgets"
            }
        },
        SettingCase("stores.copy", ["stores.copy": #""sqlite:copy.db""#], "0", "3", ask: copiedKeys(3)),
        SettingCase(
            "stores.copyRows", base: ["stores.copy": #""sqlite:copy.db""#], ["stores.copyRows": "1000"], "1100",
            "at most 1000",
            ask: copiedKeys(1_100)),
        SettingCase(
            start: "stores.fingerprint", ["stores.fingerprint": #""\#(String(repeating: "a", count: 32))""#], "starts",
            "no start"),
    ]

    private static let wrapping: [SettingCase] = [
        SettingCase("keyEncryptionKey.id", ["keyEncryptionKey.id": #""other""#], "demo", "other") {
            try await $0.server.shared.engines.keys.dataKeys().map(\.wrapper).joined()
        }
    ]

    /// The places of the secrets: with a missing file or variable the server does not start.
    private static let keySources: [SettingCase] =
        ["keyEncryptionKey", "formerKeyEncryptionKey", "nextKeyEncryptionKey", "nodeSecret"].flatMap { name in
            let good = #"{"id":"good","file":"good.hex"}"#
            let prepare: @Sendable (ServerFolder) throws -> Void = {
                try $0.write(secret: Secret.random(32).revealed.hexString, to: "good.hex")
            }
            return [
                SettingCase(
                    start: "\(name).file", base: [name: good], ["\(name).file": #""gone.hex""#], "starts", "no start",
                    prepare: prepare),
                SettingCase(
                    start: "\(name).variable", base: [name: good], [name: #"{"variable":"LATCHKEY_NOBODY_SETS_THIS"}"#],
                    "starts",
                    "no start", prepare: prepare),
                SettingCase(
                    start: "\(name).wrapper", base: [name: good],
                    ["\(name).wrapper": #""pkcs11:token=none;object=none""#],
                    "starts", "no start", prepare: prepare),
            ]
        } + [
            SettingCase(
                start: "formerKeyEncryptionKey.id",
                base: ["formerKeyEncryptionKey": #"{"id":"good","file":"node-secret.hex"}"#],
                ["formerKeyEncryptionKey.id": #""demo""#], "starts", "no start"),
            SettingCase(
                start: "nextKeyEncryptionKey.id",
                base: ["nextKeyEncryptionKey": #"{"id":"good","file":"node-secret.hex"}"#],
                ["nextKeyEncryptionKey.id": #""demo""#], "starts", "no start"),
        ]

    private static let licensee: [SettingCase] = [
        SettingCase(
            start: "licensee.credentials[].folder", ["licensee.credentials.0.folder": #""gone""#], "starts", "no start"),
        SettingCase(
            start: "licensee.credentials[].certificate", ["licensee.credentials.0.certificate": #""gone.der""#],
            "starts",
            "no start"),
        SettingCase(
            start: "licensee.credentials[].key", ["licensee.credentials.0.key": #""gone.pem""#], "starts", "no start"),
        SettingCase(
            start: "licensee.credentials[].ask", ["licensee.credentials.0.ask": #""gone.hex""#], "starts", "no start"),
        SettingCase(start: "licensee.derivation", ["licensee.derivation": #""gone.so""#], "starts", "no start"),
        SettingCase(
            "licensee.module.url", ["licensee.module": #"{"url":"http://127.0.0.1:{service}/fps"}"#], "the KSM's CKC",
            "the module's CKC", service: ModuleService.answer, ask: ModuleService.ask),
        SettingCase(
            "licensee.module.members", base: ["licensee.module": #"{"url":"http://127.0.0.1:{service}/fps"}"#],
            ["licensee.module.members": "{}"], "the module's CKC", "500 moduleTermUnmapped",
            service: ModuleService.answer, ask: ModuleService.ask),
        SettingCase(
            start: "licensee.module.selfTest.spc",
            base: ["licensee.module": #"{"url":"http://127.0.0.1:{service}/fps"}"#],
            ["licensee.module.selfTest": #"{"spc":"gone.spc","assetID":"unknown"}"#], "starts", "no start",
            service: ModuleService.answer),
        // The service repeats the asset id of the question, which is “unknown” there.
        SettingCase(
            start: "licensee.module.selfTest.assetID",
            base: [
                "licensee.module":
                    #"{"url":"http://127.0.0.1:{service}/fps","selfTest":{"spc":"kek.hex","assetID":"unknown"}}"#
            ],
            ["licensee.module.selfTest.assetID": #""another""#], "starts", "no start", service: ModuleService.answer),
        SettingCase(
            start: "licensee.secretMounts", ["licensee.secretMounts": #"["."]"#], "no start", "starts",
            prepare: { try #require(chmod($0.file("kek.hex").path, 0o644) == 0) }),
    ]

    // MARK: - Questions

    /// Puts a member into the demonstration's policy.
    static func policy(_ member: String) -> @Sendable (ServerFolder) throws -> Void {
        { folder in
            guard case .object(let members)? = JSONValue(Data("{\(member)}".utf8)) else {
                throw NothingChanged(place: member, file: "the policy")
            }
            try folder.edit(members.mapValues { $0 }, in: "policies/demo.json")
            try folder.edit(["examples": nil], in: "policies/demo.json")
        }
    }

    private static let idleTimes: @Sendable (SettingStage) async throws -> String = { stage in
        stage.stage.server.listeners.map { "\(Int($0.keepAlive.inSeconds))" }.joined(separator: " ")
    }

    private static let sixthRequest: @Sendable (SettingStage) async throws -> String = { stage in
        for _ in 0..<5 { _ = try await stage.player("certificate") }
        return "\(try await stage.player("certificate").status)"
    }

    private static let heartbeatAfterRestart: @Sendable (SettingStage) async throws -> String = { stage in
        let token = try #require(try await stage.stage.license().0.header("X-Latchkey-Heartbeat-Token"))
        return try await stage.afterRestart { again in
            "\(try await again.player("sessions/heartbeat", "POST", headers: ["Authorization": "Bearer \(token)"]).status)"
        }
    }

    private static func copiedKeys(_ count: Int) -> @Sendable (SettingStage) async throws -> String {
        { stage in
            for first in stride(from: 1, through: count, by: 500) {
                try await stage.importKeys(first...min(count, first + 499))
            }
            let copy = stage.server.shared.engines.keys.copy
            // Kept rows wait in a queue, and this write comes behind them.
            try await copy?.remove(PendingChange(.audit(text: "none")))
            let rows = try await copy?.figures().rows ?? 0
            return count > 1_000 && rows <= 1_000 ? "at most 1000" : "\(rows)"
        }
    }
}
