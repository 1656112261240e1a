import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServer
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyServerTool

/// That the running server hands facts, settings and events from one part to another; what each part makes of them, its own tests say.
@Suite(.timeLimit(.minutes(2))) struct ServerWiringTests {
    private static func metric(_ stage: ServerStage, _ series: String) async throws -> String? {
        let text = try await stage.send("\(stage.server.addresses.operators.url)/metrics").text
        return text.split(separator: "\n").first { $0.hasPrefix(series) }?.split(separator: " ").last.map(String.init)
    }

    @Test func `new limits of a reload are in force, and equal ones keep the count`() async throws {
        let stage = try await ServerStage(
            { $0 = $0.replacing(#""drainDelay""#, with: #""limits": {"perTenant": 1}, "drainDelay""#) },
            time: ManualTimekeeper(date: Date()))
        let certificate = "\(stage.server.addresses.players.url)/t/demo/certificate"
        for number in 1...6 { #expect(try await stage.send(certificate).status == (number < 6 ? 200 : 429)) }
        #expect(try await Self.metric(stage, #"latchkey_rate_limited_total{scope="tenant"}"#) == "1")
        try await stage.server.reload()
        #expect(try await stage.send(certificate).status == 429)
        try ServerStage.edit(stage.folder.configuration) {
            $0 = $0.replacing(#""perTenant": 1"#, with: #""perTenant": 0"#)
        }
        try await stage.server.reload()
        #expect(try await stage.send(certificate).status == 200)
        await stage.stop()
    }

    @Test func `one device is another one at each tenant, and the same one at one tenant`() async throws {
        let stage = try await ServerStage { text in
            let start = text.range(of: #"    "demo": {"#)?.lowerBound ?? text.startIndex
            let other = """
                    "other": {"policy": "demo", "tokens": {"keys": "jwks.json", "longestLife": "1d"}, "unlisted": "derive"},

                """
            text.insert(contentsOf: other, at: start)
        }
        func device(_ tenant: String) async throws -> String {
            let reply = try await stage.send(
                "\(stage.server.addresses.players.url)/t/\(tenant)/fairplay", method: "POST",
                body: stage.exchange().spc.revealed, bearer: stage.token())
            let id = try #require(reply.header("x-request-id"), "\(reply.text)")
            let decision = try await stage.send(
                "\(stage.server.addresses.operators.url)/admin/v1/tenants/\(tenant)/decisions/\(id)",
                bearer: stage.admin)
            return try #require(try DecisionRecord(json: decision.body).facts.ask.device)
        }
        let first = try await device("demo")
        #expect(try await device("demo") == first)
        #expect(try await device("other") != first)
        await stage.stop()
    }

    @Test func `a packager gets no keys that the audit does not know of`() async throws {
        let stage = try await OutageStage()
        stage.database.failEntries(true)
        let reply = try await stage.server.packager("cpix?content=film")
        #expect(reply.status == 503)
        #expect(!reply.text.contains(ServerUnderTest.plainKey))
        stage.database.failEntries(false)
        await stage.server.server.shared.engines.look(atLeastEvery: .zero)
        #expect(try await stage.server.packager("cpix?content=film").text.contains(ServerUnderTest.plainKey))
        await stage.end()
    }

    @Test func `what the server could not do has failed, and what it would not do is refused`() async throws {
        let stage = try await OutageStage()
        stage.database.setDown(true)
        #expect(try await stage.license(9).status == 503)
        stage.database.setDown(false)
        await stage.tick()
        #expect(try await stage.license(1, token: stage.server.token(DemoFolder.blockedViewer)).status == 403)
        let text = try await ServerUnderTest.ask(
            stage.server.server.addresses.operators.url + "/metrics", "GET", nil, [:]
        ).text
        let requests = text.split(separator: "\n").filter { $0.hasPrefix("latchkey_license_requests_total{") }
        #expect(requests.contains { $0.contains(#"outcome="failed",reason="storeUnavailable""#) })
        #expect(requests.contains { $0.contains(#"outcome="refused",reason="blocked""#) })
        await stage.end()
    }

    @Test func `an outage of the store of sessions is in the metrics`() async throws {
        let store = try LoopbackServer { _, _ in .send("-ERR not here\r\n") }
        let stage = try await ServerStage {
            $0 = $0.replacing(
                #""sessions": "sqlite:latchkey.db""#, with: #""sessions": "redis://127.0.0.1:\#(store.port)""#)
        }
        let series = #"latchkey_store_outage{store="sessionStore"}"#
        #expect(try await Self.metric(stage, series) == "0")
        for number in 0..<6 { _ = try await stage.license(for: "viewer-\(number)") }
        #expect(try await Self.metric(stage, series) == "1")
        await stage.stop()
    }

    @Test func `a reload ends the former configuration's fetches of key sets`() async throws {
        let time = ManualTimekeeper(date: Date())
        let service = try LoopbackServer { _, _ in .send("HTTP/1.0 200 OK\r\n\r\n") }
        let stage = try await ServerStage(
            { $0 = $0.replacing(#""jwks.json""#, with: #""https://127.0.0.1:\#(service.port)/""#) }, time: time)
        await time.untilSomeoneSleeps(for: .seconds(300))
        for count in 2...4 {
            try await stage.server.reload()
            // The new one has fetched and waits, and nobody else does.
            while service.connections < count || time.sleeperCount != 1 {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        await stage.server.stop(within: .zero)
    }
}
