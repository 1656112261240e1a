import LatchkeyForms
import TLSPeer
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import TestServers

/// The listener for health and metrics alone, which balancers and Prometheus reach whatever operators need.
@Suite(.timeLimit(.minutes(2))) struct HealthListenerTests {
    private static let operatorOfOneTenant: JSONValue = [
        "name": "support", "role": "viewer", "tenants": ["demo"], "key": .text(String(repeating: "a", count: 64)),
    ]

    @Test func `it answers without TLS and keys even if the operators' listener has both`() async throws {
        let stage = try await TestServer(
            ["health": ["port": 0], "admins.\(AdminRole.allCases.count + 1)": Self.operatorOfOneTenant],
            prepare: { try SelfSigned().serve("operators", of: $0) })
        #expect(stage.server.addresses.operators.url.hasPrefix("https://"))
        let health = try #require(stage.server.addresses.health?.url)
        #expect(health.hasPrefix("http://127.0.0.1:"))
        #expect(try await stage.send("\(health)/livez").status == 200)
        let ready = try await stage.send("\(health)/readyz?verbose")
        #expect(ready.status == 200 && ready.text.contains(#""checks":"#))
        let metrics = try await stage.send("\(health)/metrics")
        #expect(metrics.status == 200 && metrics.text.contains("\nlatchkey_ready 1\n"))
        stage.server.announce()
        #expect(await stage.lines("The listener for health is open.", health).count == 1)
    }

    @Test(arguments: ["", "admin/v1/overview", "sign-in/openid", "t/demo/certificate"])
    func `it has nothing else`(_ path: String) async throws {
        let stage = try await TestServer(["health": ["address": "::1", "port": 0]])
        let health = try #require(stage.server.addresses.health?.url)
        #expect(health.hasPrefix("http://[::1]:"))
        #expect(try await stage.send("\(health)/\(path)", bearer: TestServer.key(.security)).status == 404)
        #expect(try await stage.send("\(health)/metrics", method: "POST").status == 405)
    }

    @Test func `without it the operators' listener requires a key once an operator has one tenant`() async throws {
        let stage = try await TestServer(["admins.\(AdminRole.allCases.count + 1)": Self.operatorOfOneTenant])
        #expect(stage.server.addresses.health == nil)
        #expect(try await stage.operators("metrics").status == 401)
        #expect(try await stage.operators("readyz?verbose").text == "ok\n")
    }
}
