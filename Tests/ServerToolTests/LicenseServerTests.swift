import Foundation
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyVendors
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeySystem
@testable import LatchkeyVault
@testable import TestServers

@Suite(.timeLimit(.minutes(2)))
struct LicenseServerTests {
    @Test func `a new server gives its first license`() async throws {
        let stage = try await TestServer()
        let (reply, exchange) = try await stage.license()
        #expect(reply.status == 200)
        #expect(try exchange.open(reply.body).terms.validity == .lease(.seconds(300)))
        #expect(reply.header("x-request-id")?.isEmpty == false)
    }

    @Test func `the same folder gives the same keys after a restart`() async throws {
        let stage = try await TestServer()
        let (first, exchange) = try await stage.license()
        let key = try exchange.open(first.body).contentKey
        await stage.stop()
        let (reply, second) = try await TestServer(stage.folder).license()
        #expect(try second.open(reply.body).contentKey == key)
    }

    @Test func `packagers, players and operators are apart`() async throws {
        let stage = try await TestServer()
        #expect(try await stage.player("certificate").status == 200)
        #expect(try await stage.packager("certificate").status == 404)
        #expect(try await stage.send("\(stage.server.addresses.players.url)/metrics").status == 404)
        #expect(try await stage.operators("metrics").status == 200)
    }

    @Test func `health says whether the node takes requests`() async throws {
        let stage = try await TestServer()
        for path in ["livez", "readyz", "healthz"] { #expect(try await stage.operators(path).status == 200) }
        stage.server.shared.isDraining = true
        let reply = try await stage.operators("readyz?verbose")
        #expect(reply.status == 503)
        #expect(reply.text.contains("shutting down"))
        #expect(try await stage.operators("livez").status == 200)
    }

    @Test func `a packager's keys are audited, and the chain is intact`() async throws {
        let stage = try await TestServer()
        let body = """
            {"content_id":"bW92aWU=","policy":"","tracks":[{"type":"SD"},{"type":"AUDIO"}],"drm_types":["WIDEVINE"],"protection_scheme":"CBCS"}
            """
        let envelope = #"{"request":"\#(Data(body.utf8).base64EncodedString())"}"#
        let path = "keys/common-encryption"
        #expect(try await stage.packager(path, "POST", body: envelope, credentials: [:]).status == 401)
        let reply = try await stage.packager(path, "POST", body: envelope)
        #expect(reply.status == 200)
        let entry = try #require(try await stage.server.shared.engines.audit.last())
        #expect(entry.text.contains("keyExported"))
        #expect(entry.text.contains("caller:demo"))
        guard case .intact = try await AuditChain.verify(stage.server.shared.engines.audit) else {
            Issue.record("The chain is broken.")
            return
        }
    }

    @Test func `only the server with the right key can import encrypted keys`() async throws {
        let (sender, stranger) = (try await TestServer(), try await TestServer())
        let receiver = try await TestServer([
            "tenants.demo.importRecipients": [
                ["certificate": "credentials/certificate.der", "key": "credentials/private-key.pem"]
            ]
        ])
        func cpix(
            _ stage: TestServer, _ method: String, _ body: String? = nil, _ headers: [String: String] = [:]
        ) async throws -> HTTPReply {
            try await stage.packager("cpix?content=film", method, body: body, headers: headers)
        }
        #expect(try await cpix(sender, "POST", TestServer.document(1...2)).status == 200)
        let certificate = try Data(contentsOf: URL(filePath: receiver.folder.credentials + "/certificate.der"))
        let sealed = try await cpix(
            sender, "GET", nil, ["X-Recipient-Certificate": certificate.base64EncodedString()])
        #expect(sealed.status == 200 && !sealed.text.contains(TestServer.plainKey))
        let refused = try await cpix(stranger, "POST", sealed.text)
        #expect(refused.status == 422, "\(refused.text)")
        #expect(try await cpix(receiver, "POST", sealed.text).status == 200)
        #expect(try await cpix(receiver, "GET").text.contains(TestServer.plainKey))
    }

    @Test func `each license is in metrics, log and decisions`() async throws {
        let stage = try await TestServer()
        let (reply, _) = try await stage.license()
        let id = try #require(reply.header("x-request-id"))
        let metrics = try await stage.operators("metrics").text
        #expect(
            metrics.contains(
                #"latchkey_license_requests_total{tenant="demo",endpoint="fairplay",drm="fairplay",outcome="granted""#))
        for key in [nil, "wrong"] {
            #expect(try await stage.admin("tenants/demo/decisions/\(id)", key: key).status == 401)
        }
        let decision = try await stage.admin("tenants/demo/decisions/\(id)")
        #expect(try DecisionRecord(json: decision.body).word == "license")
        await stage.stop()
        let log = await stage.log
        #expect(log.contains(id))
        #expect(!log.contains("anna"), "The log names viewers by pseudonyms.")
    }

    @Test func `a page of any origin reads replies and refusals`() async throws {
        let stage = try await TestServer()
        let origin = ["Origin": "https://www.example.com"]
        let asking = origin.merging(["Access-Control-Request-Method": "POST"]) { $1 }
        // The listener's own refusal, too.
        let tooLarge = try await stage.player("fairplay", "POST", body: Data(count: 100_000), headers: origin)
        #expect(tooLarge.status == 413 && tooLarge.header("Access-Control-Allow-Origin") == "*")
        let long = ["Authorization": String(repeating: "a", count: 20_000)].merging(origin) { $1 }
        let tooLong = try await stage.player("fairplay", "POST", body: Data([1]), headers: long)
        #expect(tooLong.status == 431 && tooLong.header("Access-Control-Allow-Origin") == "*")
        #expect(try await stage.player("nowhere", "OPTIONS", headers: asking).status == 404)
        let refused = try await stage.player("fairplay", "POST", body: Data([1]), headers: origin)
        #expect(refused.status == 401)
        #expect(refused.header("Access-Control-Allow-Origin") == "*")
        #expect(refused.header("Access-Control-Expose-Headers")?.contains("x-request-id") == true)
    }

    @Test func `a browser may send what each path takes, even a vendor's`() async throws {
        let stage = try await TestServer([
            "tenants.demo.vendors": ["vudrm": ["client": "acme", "secret": "vudrm-secret.txt"]]
        ]) { try $0.write(secret: "a secret of this test", to: "vudrm-secret.txt") }
        for (path, methods) in [
            ("fairplay", "POST"), ("certificate", "GET, HEAD"), ("sessions", "DELETE"), ("sessions/heartbeat", "POST"),
            ("slots", "POST, DELETE"), ("slots/heartbeat", "POST"), ("vudrm/certificate/acme", "GET, HEAD"),
            ("vudrm/license", "POST"),
        ] {
            let preflight = try await stage.player(
                path, "OPTIONS", headers: ["Origin": "https://a.example", "Access-Control-Request-Method": "DELETE"])
            #expect(preflight.status == 204, "\(path)")
            #expect(preflight.header("Access-Control-Allow-Methods") == methods, "\(path)")
            let fields = preflight.header("Access-Control-Allow-Headers") ?? ""
            let named = [
                "x-vudrm-token", "nv-authorizations", "nv-tenant-id", "X-Kaltura-InitData", "x-ncp-region_code",
            ]
            #expect(named.allSatisfy(fields.contains), "\(path)")
        }
    }

    @Test func `an invalid configuration leaves the old one in force, and a valid one replaces it`() async throws {
        let stage = try await TestServer()
        await #expect(throws: ServerProblems.self) { try await stage.reload(["tenants.demo.policy": "none"]) }
        #expect(try await stage.license().0.status == 200)
        let metrics = try await stage.operators("metrics").text
        #expect(metrics.contains("latchkey_config_last_reload_successful 0"))
        try stage.folder.edit(["validity.lease": "10m"], in: "policies/demo.json")
        try stage.folder.edit(["tenants.demo.policy": "demo"])
        let reloaded = try await stage.admin("reload", "POST")
        #expect(reloaded.status == 200)
        let (reply, exchange) = try await stage.license(for: "berta")
        #expect(try exchange.open(reply.body).terms.validity == .lease(.seconds(600)))
    }

    @Test func `a new key encryption key takes effect without a restart, and the old one can go`()
        async throws
    {
        let stage = try await TestServer()
        let (first, exchange) = try await stage.license()
        let key = try exchange.open(first.body).contentKey
        try stage.folder.write(secret: Secret.random(32).revealed.hexString, to: "kek-2.hex")
        try await stage.reload([
            "keyEncryptionKey": ["id": "second", "file": "kek-2.hex"],
            "formerKeyEncryptionKey": ["id": "demo", "file": "kek.hex"],
        ])
        #expect(try await stage.server.shared.engines.keys.dataKeys().map(\.wrapper) == ["demo"])
        #expect(stage.server.current.notices.contains { $0.text.contains("still wrapped by “demo”") })
        #expect(try await stage.admin("rewrap", "POST").text == #"{"rewrapped":1}"#)
        #expect(try await stage.server.shared.engines.keys.dataKeys().map(\.wrapper) == ["second"])
        try await stage.reload(["formerKeyEncryptionKey": nil])
        let (second, later) = try await stage.license(for: "berta")
        #expect(try later.open(second.body).contentKey == key)
    }

    @Test func `the session store uses the configured time limit`() async throws {
        let silent = try LoopbackServer { _, _ in .hang }
        let stage = try await TestServer([
            "stores.sessionMilliseconds": 60, "stores.sessions": "redis://127.0.0.1:\(silent.port)",
        ])
        let error = await #expect(throws: StoreError.self) {
            try await stage.server.shared.accounts.accounts.all.read(RecordKey(.account, tenant: "demo", name: "anna"))
        }
        // The engine's own clock and the server's run down together; either may be first.
        let reasons = ["The engine did not answer within 60 ms.", "Redis does not answer."]
        #expect(error.map { reasons.contains($0.reason) } == true)
    }

    @Test func `a fourth stream of an account is refused with the other sessions`() async throws {
        let stage = try await TestServer()
        // Streams of one device replace each other; the tokens name devices.
        for number in 1...4 {
            let exchange = try stage.exchange()
            let token = try stage.token("anna", ["latchkey": ["device": "tv-\(number)", "label": "TV \(number)"]])
            let reply = try await stage.player("fairplay", "POST", body: exchange.spc.revealed, bearer: token)
            #expect(reply.status == (number < 4 ? 200 : 403))
            if number == 4 { #expect(reply.text.contains("TV 1")) }
        }
    }
}
