import Foundation
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

@Suite(.timeLimit(.minutes(5))) struct AdminAccessTests {
    @Test func `each address requires its role and no more`() async throws {
        let kid = TestServer.kid(1)
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
        let test = try await TestServer()
        for (path, role) in changes {
            for asking in AdminRole.allCases {
                let reply = try await test.admin(path, "POST", body: "", key: TestServer.key(asking))
                #expect((reply.status == 403) == (asking < role), "\(path) by \(asking): \(reply.status)")
            }
        }
        for path in pages {
            let reply = try await test.admin(path, key: TestServer.key(.viewer))
            #expect(reply.status == 200, "\(path): \(reply.status)")
        }
        let export = try await test.admin("tenants/demo/cpix?content=film", key: TestServer.key(.operator))
        #expect(export.status == 403)
    }

    @Test func `wrong keys are refused and audited once a minute, and the right key still works`() async throws {
        let test = try await TestServer()
        let without = try await test.admin("overview", key: nil)
        #expect(without.status == 401)
        var statuses: [Int] = []
        for _ in 0..<12 { statuses.append(try await test.admin("overview", key: "a-guessed-key").status) }
        let expected: [Int] = Array(repeating: 401, count: 10) + [429, 429]
        #expect(statuses == expected)
        #expect(try await test.admin("overview").status == 200)
        #expect(try await test.admin("overview", key: "a-guessed-key").status == 429)
        let audit = try await test.audit()
        #expect(audit == ["adminRefused admin by address:127.0.0.1"])
        let entries = try await test.server.shared.engines.audit.entries(from: 1, limit: 100)
        // The tenant's creation is the other one.
        #expect(entries.count == 2)
        #expect(!entries.contains { $0.text.contains("a-guessed-key") })
    }

    @Test func `a range may try again after a minute, and is audited once in each`() {
        let clock = ManualTimekeeper()
        let keys = WrongKeys(timekeeper: clock)
        let verdicts = (0..<12).map { _ in keys.note("one") }
        #expect(verdicts.map(\.isForAudit) == [true] + Array(repeating: false, count: 11))
        #expect(verdicts.map(\.isBeyondLimit) == Array(repeating: false, count: 10) + [true, true])
        #expect(keys.note("another") == .init(isBeyondLimit: false, isForAudit: true))
        clock.advance(by: .seconds(59))
        #expect(keys.note("one") == .init(isBeyondLimit: true, isForAudit: false))
        clock.advance(by: .seconds(1))
        #expect(keys.note("one") == .init(isBeyondLimit: false, isForAudit: true))
    }

    @Test func `many ranges do not fill the audit`() {
        let clock = ManualTimekeeper()
        let keys = WrongKeys(timekeeper: clock)
        let audited = (0..<20_000).count { keys.note("range \($0)").isForAudit }
        #expect(audited == WrongKeys.mostAudited)
        clock.advance(by: .seconds(60))
        #expect(keys.note("another").isForAudit)
    }

    @Test func `addresses of one range share a count`() throws {
        let ranges = try [
            "127.0.0.1", "127.0.0.254", "127.0.1.1", "2001:db8:0:1::1", "2001:db8:0:ff::9", "2001:db8:0:100::1",
        ]
        .map { AddressCut.limits.range(of: try #require(AddressRange(address: $0))).description }
        #expect(ranges[0] == ranges[1] && ranges[1] != ranges[2])
        #expect(ranges[3] == ranges[4] && ranges[4] != ranges[5])
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
    func `an error for an invalid request does not quote it`(
        _ method: String, _ path: String, _ body: String
    ) async throws {
        let test = try await TestServer()
        let reply = try await test.admin(path, method, body: method == "POST" ? body : nil)
        #expect([400, 413, 422].contains(reply.status), "\(path): \(reply.status)")
        #expect(reply.json["code"]?.text?.isEmpty == false)
        #expect(reply.json["remedy"]?.text?.isEmpty == false)
        #expect(reply.text.utf8.allSatisfy { $0 >= 0x20 })
        #expect(!reply.text.contains("[[["))
    }

    @Test func `bodies beyond the limit are refused, and unknown paths are not found`() async throws {
        let test = try await TestServer()
        let large = String(repeating: " ", count: 300 * 1_024)
        let refused = try await test.admin("tenants/demo/cpix", "POST", body: large)
        #expect(refused.status == 413)
        let kid = TestServer.kid(9)
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
