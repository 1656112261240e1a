import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyEngines
@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyOperation
@testable import LatchkeyPolicy
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(2)))
struct LicenseServerTests {
    @Test func `a server out of nothing gives its first license`() async throws {
        let stage = try await ServerStage()
        let (reply, exchange) = try await stage.license()
        #expect(reply.status == 200)
        #expect(try exchange.open(reply.body).terms.validity == .lease(.seconds(300)))
        #expect(reply.header("x-request-id")?.isEmpty == false)
        await stage.stop()
    }

    @Test func `the same folder gives the same keys after a restart`() async throws {
        let stage = try await ServerStage()
        let (first, exchange) = try await stage.license()
        let key = try exchange.open(first.body).contentKey
        await stage.stop()
        let again = try await LicenseServer(
            ConfigurationFile(stage.folder.configuration), lines: LineWriter { _ in })
        let second = try stage.exchange()
        let reply = try await stage.send(
            "\(again.addresses.players.url)/t/demo/fairplay", method: "POST", body: second.spc.revealed,
            bearer: stage.token())
        #expect(try second.open(reply.body).contentKey == key)
        await again.stop()
    }

    @Test func `packagers, players and operators are apart`() async throws {
        let stage = try await ServerStage()
        let addresses = stage.server.addresses
        #expect(try await stage.send("\(addresses.players.url)/t/demo/certificate").status == 200)
        #expect(try await stage.send("\(addresses.packagers.url)/t/demo/certificate").status == 404)
        #expect(try await stage.send("\(addresses.players.url)/metrics").status == 404)
        #expect(try await stage.send("\(addresses.operators.url)/metrics").status == 200)
        await stage.stop()
    }

    @Test func `health says whether the node takes requests`() async throws {
        let stage = try await ServerStage()
        let operators = stage.server.addresses.operators.url
        for path in ["livez", "readyz", "healthz"] {
            #expect(try await stage.send("\(operators)/\(path)").status == 200)
        }
        stage.server.shared.isDraining = true
        let reply = try await stage.send("\(operators)/readyz?verbose")
        #expect(reply.status == 503)
        #expect(reply.text.contains("about to stop"))
        #expect(try await stage.send("\(operators)/livez").status == 200)
        await stage.stop()
    }

    @Test func `a packager's keys are in the audit, and the chain is whole`() async throws {
        let stage = try await ServerStage()
        let body = """
            {"content_id":"bW92aWU=","policy":"","tracks":[{"type":"SD"},{"type":"AUDIO"}],"drm_types":["WIDEVINE"],"protection_scheme":"CBCS"}
            """
        let envelope = #"{"request":"\#(Data(body.utf8).base64EncodedString())"}"#
        let url = "\(stage.server.addresses.packagers.url)/t/demo/keys/common-encryption"
        let refused = try await stage.send(url, method: "POST", body: Data(envelope.utf8))
        #expect(refused.status == 401)
        let reply = try await stage.send(
            url, method: "POST", body: Data(envelope.utf8),
            headers: ["X-API-Key": stage.folder.packagerKey.revealedText])
        #expect(reply.status == 200)
        let entry = try #require(try await stage.server.shared.engines.audit.last())
        #expect(entry.text.contains("keyExported"))
        #expect(entry.text.contains("caller:demo"))
        guard case .intact = try await AuditChain.verify(stage.server.shared.engines.audit) else {
            Issue.record("The chain is broken.")
            return
        }
        await stage.stop()
    }

    @Test func `keys in cipher come into the server whose key opens them, and into no other`() async throws {
        let (sender, stranger) = (try await ServerStage(), try await ServerStage())
        let receiver = try await ServerStage { text in
            text = text.replacing(
                #""clearKey": true,"#,
                with: #"""
                    "clearKey": true, "importRecipients":
                      [{"certificate": "credentials/certificate.der", "key": "credentials/private-key.pem"}],
                    """#)
        }
        func cpix(
            _ stage: ServerStage, _ method: String, _ body: Data? = nil, _ headers: [String: String] = [:]
        ) async throws -> HTTPReply {
            let key = ["X-API-Key": stage.folder.packagerKey.revealedText]
            return try await stage.send(
                "\(stage.server.addresses.packagers.url)/t/demo/cpix?content=film", method: method, body: body,
                headers: headers.merging(key) { $1 })
        }
        #expect(try await cpix(sender, "POST", Data(ServerUnderTest.document(1...2).utf8)).status == 200)
        let certificate = try Data(contentsOf: URL(filePath: receiver.folder.credentials + "/certificate.der"))
        let sealed = try await cpix(
            sender, "GET", nil, ["X-Recipient-Certificate": certificate.base64EncodedString()])
        #expect(sealed.status == 200 && !sealed.text.contains(ServerUnderTest.plainKey))
        let refused = try await cpix(stranger, "POST", sealed.body)
        #expect(refused.status == 422, "\(refused.text)")
        #expect(try await cpix(receiver, "POST", sealed.body).status == 200)
        #expect(try await cpix(receiver, "GET").text.contains(ServerUnderTest.plainKey))
        for stage in [sender, stranger, receiver] { await stage.stop() }
    }

    @Test func `each license is in metrics, log and decisions`() async throws {
        let stage = try await ServerStage()
        let (reply, _) = try await stage.license()
        let id = try #require(reply.header("x-request-id"))
        let metrics = try await stage.send("\(stage.server.addresses.operators.url)/metrics").text
        #expect(
            metrics.contains(
                #"latchkey_license_requests_total{tenant="demo",endpoint="fairplay",drm="fairplay",outcome="granted""#))
        let url = "\(stage.server.addresses.operators.url)/admin/v1/tenants/demo/decisions/\(id)"
        #expect(try await stage.send(url).status == 401)
        #expect(try await stage.send(url, bearer: "wrong").status == 401)
        let decision = try await stage.send(url, bearer: stage.admin)
        #expect(try DecisionRecord(json: decision.body).word == "license")
        await stage.stop()
        let log = String(decoding: stage.log.withLock { $0 }, as: UTF8.self)
        #expect(log.contains(id))
        #expect(!log.contains("anna"), "The log names viewers by pseudonyms.")
    }

    @Test func `a page of any origin reads replies and refusals`() async throws {
        let stage = try await ServerStage()
        let url = "\(stage.server.addresses.players.url)/t/demo/fairplay"
        let origin = ["Origin": "https://www.example.com"]
        let preflight = try await stage.send(
            url, method: "OPTIONS", headers: origin.merging(["Access-Control-Request-Method": "POST"]) { $1 })
        #expect(preflight.status == 204)
        #expect(preflight.header("Access-Control-Allow-Methods") == "POST, GET")
        let refused = try await stage.send(url, method: "POST", body: Data([1]), headers: origin)
        #expect(refused.status == 401)
        #expect(refused.header("Access-Control-Allow-Origin") == "*")
        await stage.stop()
    }

    @Test func `a wrong configuration leaves the old one in force, and a right one takes its place`() async throws {
        let stage = try await ServerStage()
        try ServerStage.edit(stage.folder.configuration) {
            $0 = $0.replacing(#""policy": "demo""#, with: #""policy": "none""#)
        }
        await #expect(throws: ServerProblems.self) { try await stage.server.reload() }
        #expect(try await stage.license().0.status == 200)
        let metrics = try await stage.send("\(stage.server.addresses.operators.url)/metrics").text
        #expect(metrics.contains("latchkey_config_last_reload_successful 0"))
        let policy = stage.folder.url.appending(path: "policies/demo.json").path
        try ServerStage.edit(policy) { $0 = $0.replacing(#""5m""#, with: #""10m""#) }
        try ServerStage.edit(stage.folder.configuration) {
            $0 = $0.replacing(#""policy": "none""#, with: #""policy": "demo""#)
        }
        let reloaded = try await stage.send(
            "\(stage.server.addresses.operators.url)/admin/v1/reload", method: "POST", bearer: stage.admin)
        #expect(reloaded.status == 200)
        let (reply, exchange) = try await stage.license(for: "berta")
        #expect(try exchange.open(reply.body).terms.validity == .lease(.seconds(600)))
        await stage.stop()
    }

    @Test func `a new key encryption key takes over without a restart, and the old one is not needed any more`()
        async throws
    {
        let stage = try await ServerStage()
        let (first, exchange) = try await stage.license()
        let key = try exchange.open(first.body).contentKey
        let new = stage.folder.url.appending(path: "kek-2.hex")
        try PrivateFile.write(Secret(Secret.random(32).revealed.hexString), to: new)
        try ServerStage.edit(stage.folder.configuration) { text in
            text = text.replacing(
                #""keyEncryptionKey": {"id": "demo", "file": "kek.hex"}"#,
                with: #""keyEncryptionKey": {"id": "second", "file": "kek-2.hex"}, "#
                    + #""formerKeyEncryptionKey": {"id": "demo", "file": "kek.hex"}"#)
        }
        try await stage.server.reload()
        #expect(try await stage.server.shared.engines.keys.dataKeys().map(\.wrapper) == ["demo"])
        #expect(stage.server.current.notices.contains { $0.text.contains("still wrapped by “demo”") })
        let rewrap = "\(stage.server.addresses.operators.url)/admin/v1/rewrap"
        #expect(try await stage.send(rewrap, method: "POST", bearer: stage.admin).text == #"{"rewrapped":1}"#)
        #expect(try await stage.server.shared.engines.keys.dataKeys().map(\.wrapper) == ["second"])
        try ServerStage.edit(stage.folder.configuration) { text in
            text = text.replacing(#", "formerKeyEncryptionKey": {"id": "demo", "file": "kek.hex"}"#, with: "")
        }
        try await stage.server.reload()
        let (second, later) = try await stage.license(for: "berta")
        #expect(try later.open(second.body).contentKey == key)
        await stage.stop()
    }

    @Test func `the store of sessions has the time that the configuration gives it`() async throws {
        let silent = try LoopbackServer { _, _ in .hang }
        let stage = try await ServerStage { text in
            text = text.replacing("10000", with: "60").replacing(
                #""sessions": "sqlite:latchkey.db""#, with: #""sessions": "redis://127.0.0.1:\#(silent.port)""#)
        }
        let error = await #expect(throws: StoreError.self) {
            try await stage.server.shared.accounts.accounts.read(RecordKey(.account, tenant: "demo", name: "anna"))
        }
        // The engine's own clock and the server's run down at once; either may be first.
        let reasons = ["The engine did not answer within 60 ms.", "Redis does not answer."]
        #expect(error.map { reasons.contains($0.reason) } == true)
        await stage.stop()
    }

    @Test func `a fourth stream of an account is refused with the other sessions`() async throws {
        let stage = try await ServerStage { $0 = $0 }
        // Streams of one device replace each other; the tokens name devices.
        for number in 1...4 {
            let exchange = try stage.exchange()
            let token = try DemoFolder.token(
                in: stage.folder.url, for: "anna", at: Date(),
                claims: ["latchkey": .object(["device": .text("tv-\(number)"), "label": .text("TV \(number)")])])
            let reply = try await stage.send(
                "\(stage.server.addresses.players.url)/t/demo/fairplay", method: "POST", body: exchange.spc.revealed,
                bearer: token.revealedText)
            #expect(reply.status == (number < 4 ? 200 : 403))
            if number == 4 { #expect(reply.text.contains("TV 1")) }
        }
        await stage.stop()
    }
}
