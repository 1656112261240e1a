import Foundation
import LatchkeyServer
import LatchkeyTesting
import Testing

@testable import LatchkeyServerTool

@Suite(.timeLimit(.minutes(5))) struct AdminAccessTests {
    @Test func `each address asks for its role, and for no more`() async throws {
        let kid = ServerUnderTest.kid(1)
        let changes: [(String, AdminRole)] = [
            ("sign-in", .viewer), ("audit/verify", .viewer), ("reload", .operator),
            ("tenants/demo/keys/\(kid)/disable", .operator), ("tenants/demo/keys/\(kid)/enable", .operator),
            ("tenants/demo/sessions/stop", .operator), ("tenants/demo/devices/forget", .operator),
            ("tenants/demo/cpix", .security), ("rewrap", .security), ("tenants/demo/data-key", .security),
            ("tenants/demo/reseal", .security),
        ]
        let pages = [
            "overview", "refusals", "tenants", "tenants/demo/keys", "tenants/demo/accounts", "decisions", "credentials",
            "policies", "policies/demo", "audit",
        ]
        try await ServerUnderTest.run { test in
            for (path, role) in changes {
                for asking in AdminRole.allCases {
                    let reply = try await test.admin(path, "POST", body: "", key: ServerUnderTest.key(asking))
                    #expect((reply.status == 403) == (asking < role), "\(path) by \(asking): \(reply.status)")
                }
            }
            for path in pages {
                let reply = try await test.admin(path, key: ServerUnderTest.key(.viewer))
                #expect(reply.status == 200, "\(path): \(reply.status)")
            }
            let export = try await test.admin("tenants/demo/cpix?content=film", key: ServerUnderTest.key(.operator))
            #expect(export.status == 403)
        }
    }

    @Test func `wrong keys are refused, audited, and after ten nobody listens`() async throws {
        try await ServerUnderTest.run { test in
            let without = try await test.admin("overview", key: nil)
            #expect(without.status == 401)
            var statuses: [Int] = []
            for _ in 0..<12 { statuses.append(try await test.admin("overview", key: "a-guessed-key").status) }
            let expected: [Int] = Array(repeating: 401, count: 10) + [429, 429]
            #expect(statuses == expected)
            let audit = try await test.audit()
            let refused = "adminRefused admin by address:127.0.0.1"
            #expect(audit.count == 10)
            #expect(audit.allSatisfy { $0 == refused })
            let entries = try await test.server.shared.engines.audit.entries(from: 1, limit: 100)
            #expect(!entries.contains { $0.text.contains("a-guessed-key") })
        }
    }

    @Test func `an address is listened to again after a minute`() {
        let clock = ManualTimekeeper()
        let keys = WrongKeys(timekeeper: clock)
        for _ in 0..<10 { keys.note("one") }
        #expect(keys.isBeyondLimit("one"))
        #expect(!keys.isBeyondLimit("another"))
        clock.advance(by: .seconds(59))
        #expect(keys.isBeyondLimit("one"))
        clock.advance(by: .seconds(1))
        #expect(!keys.isBeyondLimit("one"))
        keys.note("one")
        #expect(!keys.isBeyondLimit("one"))
    }

    @Test(arguments: [
        ("GET", "tenants/demo/keys?after=%00", ""), ("GET", "tenants/demo/keys?after=AAAA", ""),
        ("GET", "tenants/demo/keys?search=%1b%5b2J", ""), ("GET", "tenants/demo/keys?limit=-1", ""),
        ("GET", "tenants/demo/keys/no-kid", ""), ("GET", "tenants/demo/account", ""),
        ("GET", "audit?from=nothing", ""), ("GET", "decisions?before=99999999999999999999999", ""),
        ("GET", "tenants/demo/accounts?prefix=" + String(repeating: "a", count: 600), ""),
        ("GET", "tenants/demo/cpix?content=", ""), ("GET", "tenants/demo/cpix?content=film&version=9", ""),
        ("POST", "tenants/demo/sessions/stop", String(repeating: "[", count: 5_000)),
        ("POST", "tenants/demo/sessions/stop", #"{"account":1,"session":[]}"#),
        ("POST", "tenants/demo/sessions/stop", #"{"account":"a\u0000b","session":"x"}"#),
        ("POST", "tenants/demo/devices/forget", "no json"),
        ("POST", "tenants/demo/cpix", #"<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>"#),
        ("POST", "tenants/demo/cpix", "{}"),
        ("POST", "tenants/demo/cpix", String(repeating: "<a>", count: 5_000)),
    ])
    func `what is no request is refused in words that repeat nothing of it`(
        _ method: String, _ path: String, _ body: String
    ) async throws {
        try await ServerUnderTest.run { test in
            let reply = try await test.admin(path, method, body: method == "POST" ? body : nil)
            #expect([400, 413, 422].contains(reply.status), "\(path): \(reply.status)")
            #expect(reply.json["code"]?.text?.isEmpty == false)
            #expect(reply.json["remedy"]?.text?.isEmpty == false)
            #expect(reply.text.utf8.allSatisfy { $0 >= 0x20 })
            #expect(!reply.text.contains("[[["))
        }
    }

    @Test func `bodies beyond the limit are refused, and what is not there is not found`() async throws {
        try await ServerUnderTest.run { test in
            let large = String(repeating: " ", count: 300 * 1_024)
            let refused = try await test.admin("tenants/demo/cpix", "POST", body: large)
            #expect(refused.status == 413)
            let kid = ServerUnderTest.kid(9)
            for path in [
                "tenants/none/keys", "tenants/demo/keys/\(kid)", "policies/none", "nothing",
                "tenants/demo/decisions/none",
            ] {
                let reply = try await test.admin(path)
                #expect(reply.status == 404, "\(path): \(reply.status)")
            }
            let deleted = try await test.admin("overview", "DELETE")
            #expect(deleted.status == 405)
        }
    }
}
