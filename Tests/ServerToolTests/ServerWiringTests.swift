import Foundation
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeySystem
import LatchkeyTerminal
import LatchkeyTransport
import LatchkeyVendors
import TLSPeer
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The running server passes facts, settings and events between its parts; the tests of each part cover their use.
@Suite(.timeLimit(.minutes(2))) struct ServerWiringTests {
    @Test func `a reload applies new limits, and equal ones keep the count`() async throws {
        let stage = try await TestServer(["limits.perTenant": 1], time: ManualTimekeeper(date: Date()))
        for number in 1...6 { #expect(try await stage.player("certificate").status == (number < 6 ? 200 : 429)) }
        #expect(try await stage.metric(#"latchkey_rate_limited_total{scope="tenant"}"#) == 1)
        try await stage.server.reload()
        #expect(try await stage.player("certificate").status == 429)
        try await stage.reload(["limits.perTenant": 0])
        #expect(try await stage.player("certificate").status == 200)
    }

    @Test func `a rate-limited viewer counts as a refused license in the figures for alerts`() async throws {
        let stage = try await TestServer(["limits.perTenant": 1], time: ManualTimekeeper(date: Date()))
        for _ in 1...5 { #expect(try await stage.player("certificate").status == 200) }
        #expect(try await stage.player("fairplay", "POST", body: Data()).status == 429)
        #expect(try await stage.player("sessions/heartbeat", "POST", body: Data()).status == 429)
        let labels = #"tenant="demo",endpoint="fairplay",drm="fairplay",outcome="refused",reason="rateLimit""#
        #expect(try await stage.metric("latchkey_license_requests_total{\(labels)}") == 1)
    }

    @Test func `a device counts separately at each tenant and once within a tenant`() async throws {
        let stage = try await TestServer([
            "tenants.other": [
                "policy": "demo", "tokens": ["keys": "jwks.json", "longestLife": "1d"], "unlisted": "derive",
            ]
        ])
        func device(_ tenant: String) async throws -> String {
            let reply = try await stage.player(
                "fairplay", "POST", body: stage.exchange().spc.revealed, bearer: stage.token(), at: tenant)
            let id = try #require(reply.header("x-request-id"), "\(reply.text)")
            let decision = try await stage.admin("tenants/\(tenant)/decisions/\(id)")
            return try #require(try DecisionRecord(json: decision.body).facts.request.device)
        }
        let first = try await device("demo")
        #expect(try await device("demo") == first)
        #expect(try await device("other") != first)
    }

    @Test func `a packager gets no key before the audit records it`() async throws {
        let stage = try await TestServer.switched()
        stage.database.failEntries(true)
        let reply = try await stage.packager("cpix?content=film")
        #expect(reply.status == 503)
        #expect(!reply.text.contains(TestServer.plainKey))
        stage.database.failEntries(false)
        await stage.server.shared.engines.look(atLeastEvery: .zero)
        #expect(try await stage.packager("cpix?content=film").text.contains(TestServer.plainKey))
    }

    @Test func `a license the server could not make has failed, and one it denied is refused`() async throws {
        let stage = try await TestServer.switched()
        stage.database.setDown(true)
        #expect(try await stage.license(9).status == 503)
        stage.database.setDown(false)
        await stage.tick()
        #expect(try await stage.license(1, token: stage.token(DemoFolder.blockedViewer)).status == 403)
        let text = try await stage.operators("metrics").text
        let requests = text.split(separator: "\n").filter { $0.hasPrefix("latchkey_license_requests_total{") }
        #expect(requests.contains { $0.contains(#"outcome="failed",reason="storeUnavailable""#) })
        #expect(requests.contains { $0.contains(#"outcome="refused",reason="blocked""#) })
    }

    @Test func `a reload ends the old configuration's key set fetches`() async throws {
        let time = ManualTimekeeper(date: Date())
        let service = try LoopbackServer { _, _ in .send("HTTP/1.0 200 OK\r\n\r\n") }
        let stage = try await TestServer(["tenants.demo.tokens.keys": "https://127.0.0.1:\(service.port)/"], time: time)
        await time.untilSomeoneSleeps(for: .seconds(300))
        for count in 2...4 {
            try await stage.server.reload()
            // Only the new one, which has fetched, waits.
            while service.connections < count || time.sleeperCount != 1 {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    @Test func `the operator's own service receives viewer and content by POST`() async throws {
        let service = try LoopbackServer { _, _ in .send("HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n") }
        let stage = try await TestServer(["tenants.demo.callout.url": "http://127.0.0.1:\(service.port)/ask"])
        #expect(try await stage.license().0.status == 200)
        let request = try #require(service.requests.first)
        #expect(request.hasPrefix("POST /ask HTTP/1.1\r\n"))
        #expect(request.lowercased().contains("content-type: application/json"))
        let body = try #require(request.range(of: "\r\n\r\n").map { Data(request[$0.upperBound...].utf8) })
        #expect(JSONValue(body) == .object(["user": .text("anna"), "asset": .text("movie")]))
    }

    /// With the answer of the operator's own service, and the player's result.
    @Test(arguments: [
        (200, "", "200"), (200, #"{"policy":{"blocked":{"users":["anna"]}}}"#, "403 blocked"), (204, "", "200"),
        (302, "", "503 storeUnavailable"), (403, "", "403 notEntitled"), (404, "", "403 notEntitled"),
        (429, "", "503 storeUnavailable"), (500, "", "503 storeUnavailable"),
    ])
    func `the operator's own service decides the player's reply`(
        _ status: Int, _ body: String, _ expected: String
    ) async throws {
        let service = try LoopbackServer { _, _ in LoopbackServer.reply("\(status) X", body: body) }
        let stage = try await TestServer(["tenants.demo.callout.url": "http://127.0.0.1:\(service.port)/"])
        let reply = try await stage.license().0
        let code = JSONValue(reply.body)?["error"]?["code"]?.text
        #expect(([String(reply.status), code].compactMap { $0 }).joined(separator: " ") == expected, "\(reply.text)")
    }

    @Test func `a known key stays known across a reload`() async throws {
        let stage = try await TestServer()
        let vault = try #require(stage.server.current.tenants["demo"]?.vault)
        let (content, kid) = (try #require(ContentName("movie")), try #require(KeyID(TestServer.derivedKid)))
        _ = try await vault.keys(for: [KeyDemand(KeyAddress(content: content, kid: kid))])
        let (first, exchange) = try await stage.license()
        let key = try exchange.open(first.body).contentKey
        let known = vault.cachedCount
        try await stage.server.reload()
        let next = try #require(stage.server.current.tenants["demo"]?.vault)
        #expect(next !== vault)
        #expect(known > 0 && next.cachedCount == known)
        let (second, later) = try await stage.license(for: "berta")
        #expect(try later.open(second.body).contentKey == key)
    }

    @Test func `wrong keys beyond the limit count as limited requests`() async throws {
        let stage = try await TestServer()
        let series = #"latchkey_rate_limited_total{scope="address"}"#
        for _ in 0..<10 { #expect(try await stage.admin("overview", key: "wrong").status == 401) }
        #expect(try await stage.metric(series) ?? 0 == 0)
        #expect(try await stage.admin("overview", key: "wrong").status == 429)
        #expect(try await stage.metric(series) == 1)
    }

    @Test func `sessions are counted again after ten seconds`() async throws {
        let time = ManualTimekeeper(date: Date())
        let stage = try await TestServer(time: time)
        let sessions = stage.server.shared.sessions
        await sessions.refresh(["demo"])?.value
        time.advance(by: .seconds(9))
        #expect(sessions.refresh(["demo"]) == nil)
        time.advance(by: .seconds(1))
        #expect(sessions.refresh(["demo"]) != nil)
    }

    @Test func `a database other than the copy's blocks the start, and the place says why`() async throws {
        let stage = try await TestServer(["stores.copy": "sqlite:copy.db"])
        // The copy knows its database by now.
        await stage.server.readCopyAgain()
        #expect(try await stage.license().0.status == 200)
        await stage.stop()
        try stage.folder.edit(["stores.fingerprint": .text(String(repeating: "a", count: 32))])
        let error = await #expect(throws: ServerProblems.self) { try await TestServer(stage.folder) }
        #expect(error?.problems.map(\.place) == ["stores.keys"])
    }

    @Test func `an unknown error is still a problem at its place`() {
        struct Odd: Error {}
        var problems = ServerProblems()
        let value: Int? = problems.collecting("licensee") { throw Odd() }
        #expect(value == nil)
        #expect(problems.problems.map(\.place) == ["licensee"])
    }

    @Test func `the owner's file of a migration names a database`() async throws {
        let folder = try ServerFolder()
        let owner = try folder.root.write("sqlite:other.db", to: "owner.txt")
        let run = await ToolRun("migrate", "--config", folder.configuration, "--owner", owner)
        #expect(
            run.status == .no && run.error.contains("The owner's file does not contain a database address."),
            "\(run.error)")
    }

    @Test func `each request to a key set or provider uses a new connection`() async throws {
        let server = try LoopbackServer { _, _ in .keep("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}") }
        let stage = try await TestServer(prepare: { try SelfSigned().write("provider", to: $0.url) })
        let builder = stage.server.shared.builder(stage.server.file)
        let source = builder.fetched(server.url(), TenantSettings.Tokens(), of: "demo")
        for _ in 0..<2 { await #expect(throws: KeySetError.self) { try await source.reload() } }
        #expect(server.connections == 2)
        var request = URLRequest(url: server.url())
        request.httpMethod = "POST"
        request.httpBody = Data("code=1".utf8)
        for transport in try [builder.transport(nil), builder.transport("provider.pem")] {
            for _ in 0..<2 { #expect(try await transport.send(request, bodyLimit: 9).status == 200) }
        }
        #expect(server.connections == 6 && server.requests.count == 6)
    }

    @Test(arguments: [0o644, 0o640, 0o606])
    func `a password in an owner's file others can read is refused; without one it passes`(mode: Int) throws {
        let folder = try ServerFolder()
        let file = try ConfigurationFile(folder.configuration)
        let container = try ServerFolder(["licensee.secretMounts": [.text(folder.root.url.path)]])
        let mounted = try ConfigurationFile(container.configuration)
        for address in ["postgresql://owner:hunter2@db/x", "postgresql://owner@db/x?password=hunter2"] {
            let owner = try folder.root.write(address, to: "owner.txt", mode: mode)
            let error = #expect(throws: FileError.self) { try file.ownerAddress(inFile: owner) }
            #expect(error?.code == "passwordOpenToOthers" && error?.reason.contains("hunter2") == false)
            let isTaken = (try? mounted.ownerAddress(inFile: owner)) != nil
            #expect(isTaken == (mode & 0o022 == 0))
            try #require(chmod(owner, 0o600) == 0)
            #expect(throws: Never.self) { try file.ownerAddress(inFile: owner) }
        }
        let bare = try folder.root.write("postgresql://owner@db/x", to: "owner.txt", mode: mode)
        #expect(throws: Never.self) { try file.ownerAddress(inFile: bare) }
    }

    @Test func `operators wait five seconds for the session store, and players only their own limit`()
        async throws
    {
        let time = ManualTimekeeper(date: Date())
        let store = try LoopbackServer { _, _ in .hang }
        let stage = try await TestServer(
            ["stores.sessionMilliseconds": 9_000, "stores.sessions": "redis://127.0.0.1:\(store.port)"], time: time)
        let (operators, players) = (stage.server.shared.operatorAccounts, stage.server.shared.accounts)
        for (accountSessions, limit) in [(operators, Duration.seconds(5)), (players, .seconds(9))] {
            let reading = Task { try await accountSessions.account("anna", of: "demo") }
            await time.untilSomeoneSleeps(for: limit)
            reading.cancel()
            time.advance(by: .seconds(10))
            _ = await reading.result
        }
    }

    @Test func `the start is logged with notices for operators and each listener's place`() async throws {
        let stage = try await TestServer()
        stage.server.announce()
        await stage.stop()
        let log = await stage.log
        for notice in stage.server.current.notices { #expect(log.contains(notice.text.prefix(30)), "\(log)") }
        #expect(!stage.server.current.notices.isEmpty)
        let addresses = stage.server.addresses
        for place in [addresses.players, addresses.packagers, addresses.operators] {
            #expect(log.replacing("\\/", with: "/").contains(#""\#(place.url)""#), "\(log)")
        }
    }

    @Test func `each hang of a file is reported once`() async throws {
        let (held, clock, watching) = (HeldFile("server.json"), ManualTimekeeper(), ManualTimekeeper())
        let threads = FileThreads(most: 1, timekeeper: clock, opening: held.opening)
        let stage = try await TestServer(threads: threads)
        let watch = Task { [server = stage.server] in await server.watchFiles(watching) }
        await watching.untilSomeoneSleeps()
        func looks(hanging: Bool) async throws {
            let before = held.timesHeld
            if hanging { held.holdsNext() }
            watching.advance(by: .seconds(1))
            // A look that is given up before it opens the file cannot name the file.
            while hanging, held.timesHeld == before {
                try Task.checkCancellation()
                await Task.yield()
            }
            // The look ends only by its limit, which may not have begun yet.
            while hanging, watching.sleeperCount == 0 {
                try Task.checkCancellation()
                clock.advance(by: .seconds(60))
                await Task.yield()
            }
            await watching.untilSomeoneSleeps()
            if hanging { held.letGo() }
            // The only thread takes work again when the released look has ended, which could be held up in the next one's place.
            while (try? await threads.run("a look") {}) == nil { try Task.checkCancellation() }
        }
        for _ in 0..<3 { try await looks(hanging: true) }
        try await looks(hanging: false)
        for _ in 0..<2 { try await looks(hanging: true) }
        watch.cancel()
        await watch.value
        await stage.stop()
        #expect(await stage.lines("server.json", "warning").count == 2)
    }

    @Test func `the log reports when an engine goes down and when it answers again`() async throws {
        let stage = try await TestServer.switched()
        stage.database.setDown(true)
        await stage.tick()
        let away = await stage.log
        #expect(away.contains("The key store does not answer.") && !away.contains("answers again"), "\(away)")
        let errors = try await stage.operators("metrics").text.split(separator: "\n").filter {
            $0.hasPrefix("latchkey_store_errors_total{") && $0.contains("keyStore") && !$0.hasSuffix(" 0")
        }
        #expect(errors.count == 1)
        stage.database.setDown(false)
        await stage.tick()
        let back = await stage.log
        #expect(back.contains("The key store answers again."), "\(back)")
    }

    @Test func `the log counts the licenses that this node issued without each store once for reads and writes`()
        async throws
    {
        let store = SwitchedRecordStore()
        let stage = try await TestServer.switched(sessions: { _ in store })
        try stage.folder.edit(["token": ["singleUse": true], "examples": nil], in: "policies/demo.json")
        _ = try await stage.reload([:])
        func license(_ number: Int) async throws -> Int {
            let name = UUID().uuidString
            return try await stage.license(number, token: stage.token(name, ["jti": .text(name)])).status
        }
        #expect(try await license(1) == 200)
        store.setDown(true)
        #expect(try await license(1) == 200)
        let sessions = stage.server.shared.accounts.watched.first { $0.health.name == "sessionStore" }
        // Writes fail later than reads.
        _ = try? await sessions?.call(EngineWork(.write)) {
            throw StoreError(.unavailable, store.engine, reason: "The test takes no writes.")
        }
        #expect(try await license(2) == 200)
        store.setDown(false)
        await stage.tick()
        await stage.stop()
        let log = await stage.log
        for bound in ["an account can use its limit", "a token can be used"] {
            #expect(log.contains("\(bound) once per node."), "\(log)")
        }
        for words in ["answers again", "accepts writes again"] { #expect(log.contains("The session store \(words).")) }
        #expect(log.components(separatedBy: "again. Licenses issued without it on this node: 2.").count == 3, "\(log)")
        #expect(log.components(separatedBy: "Licenses issued without it on this node: ").count == 3, "\(log)")
    }

    @Test func `a pool with room again is seen after a second`() async throws {
        let time = ManualTimekeeper(date: Date())
        let stage = try await TestServer(time: time)
        stage.server.shared.saturation.note(isFull: true)
        time.advance(by: .seconds(40))
        #expect(try await stage.operators("readyz").status == 503)
        let watch = Task { [server = stage.server] in await server.watchPool() }
        await time.untilSomeoneSleeps(for: .seconds(1))
        time.advance(by: .seconds(1))
        await time.untilSomeoneSleeps(for: .seconds(1))
        #expect(try await stage.operators("readyz").status == 200)
        watch.cancel()
        await watch.value
    }

    @Test func `the audit names the keys' recipients, and no cache keeps a decision`() async throws {
        let stage = try await TestServer()
        let der = try Data(contentsOf: URL(filePath: stage.folder.credentials + "/certificate.der"))
        let setting = SettingStage(stage: stage, time: ManualTimekeeper(date: Date()), service: nil)
        let delivery = """
            <cpix:DeliveryDataList xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><cpix:DeliveryData id="d">\
            <cpix:DeliveryKey><ds:X509Data><ds:X509Certificate>\(der.base64EncodedString())</ds:X509Certificate>\
            </ds:X509Data></cpix:DeliveryKey></cpix:DeliveryData></cpix:DeliveryDataList>
            """
        #expect(try await setting.speke(delivery: delivery).status == 200)
        let entry = try #require(try await stage.server.shared.engines.audit.last())
        #expect(entry.text.contains(try MessageDigest.sha256(Array(der)).hexString))
        let id = try #require(try await stage.license().0.header("x-request-id"))
        let decision = try await stage.admin("tenants/demo/decisions/\(id)")
        #expect(decision.status == 200 && decision.header("Cache-Control") == "no-store")
    }
}
