import Foundation
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

@Suite(.timeLimit(.minutes(5))) struct AdminDecisionsTests {
    @Test func `the overview and metrics show the same figures`() async throws {
        let test = try await TestServer()
        try await test.importKeys([1])
        for number in 1...3 {
            _ = try await test.license(1, token: try test.token("viewer-\(number)"), requestID: "granted-\(number)")
        }
        _ = try await test.license(1, token: "nonsense", requestID: "refused-1")
        let overview = try await test.admin("overview").json
        #expect(overview["totals"]?["granted"]?.number == 3)
        #expect(overview["totals"]?["refused"]?.number == 1)
        #expect(overview["sessions"]?["demo"]?.number == 3)
        let lines = try await test.operators("metrics").text.split(separator: "\n")
        let granted = lines.filter {
            $0.hasPrefix("latchkey_license_requests_total") && $0.contains(#"outcome="granted""#)
        }
        #expect(granted.count == 1)
        #expect(granted.first?.hasSuffix(" 3") == true)
        let sessions = lines.filter { $0.hasPrefix("latchkey_sessions{") }.map { String($0) }
        #expect(sessions == [#"latchkey_sessions{tenant="demo"} 3"#])
        let times = lines.first { $0.hasPrefix("latchkey_license_duration_seconds_count") }
        #expect(times?.hasSuffix(" 4") == true)
    }

    @Test func `a refused request is explained by its identifier alone, even without a policy decision`()
        async throws
    {
        let test = try await TestServer()
        try await test.importKeys([1])
        _ = try await test.license(1, token: try test.token("ann"), requestID: "request-1")
        _ = try await test.license(1, token: "nonsense", requestID: "request-2")
        let decided = try await test.admin("requests/request-1").json
        #expect(decided["tenant"]?.text == "demo" && decided["record"]?["decision"]?["result"]?.text == "license")
        let early = try await test.admin("requests/request-2").json
        #expect(early["refusal"]?["code"]?.text == "tokenForm" && early["record"] == nil)
        #expect(try await test.admin("requests/request-3").json["code"]?.text == "decisionUnknown")
        let replace = "cpix?replace=\(TestServer.kid(1))"
        #expect(try await test.packager(replace, "POST", body: TestServer.document([1])).status == 403)
        let overview = try await test.admin("overview").json
        guard case .object(let reasons)? = overview["reasons"] else { return #expect(Bool(false)) }
        // The refusals next to it include the packagers', too.
        #expect(reasons.compactMapValues(\.number) == ["tokenForm": 1, "cpixReplace": 1])
        #expect(overview["notices"] != nil)
    }

    @Test func `decisions are listed, filtered, explained, and redone by another policy`() async throws {
        let test = try await TestServer()
        try await test.importKeys([1])
        for number in 1...5 {
            _ = try await test.license(1, token: try test.token("ann"), requestID: "request-\(number)")
        }
        let listed = try await test.admin("decisions?tenant=demo").list("decisions")
        let words: [String] = listed.compactMap { $0["outcome"]?.text }
        #expect(words == ["sessionLimit", "sessionLimit", "license", "license", "license"])
        let refused = try await test.admin("decisions?outcome=refused&limit=1")
        #expect(refused.texts("decisions", "requestId") == ["request-5"])
        let next = try #require(refused.json["next"]?.number)
        let older = try await test.admin("decisions?outcome=refused&limit=1&before=\(Int(next))")
        #expect(older.texts("decisions", "requestId") == ["request-4"])
        let others = try await test.admin("decisions?tenant=other")
        #expect(others.list("decisions").isEmpty)
        let record = try await test.admin("tenants/demo/decisions/request-4")
        #expect(record.json["decision"]?["refusal"]?["code"]?.text == "sessionLimit")
        let policy = #"{"version":1,"concurrency":{"scope":"account","limit":9,"mode":"refuseNewest"}}"#
        let again = try await test.admin("tenants/demo/decisions/request-4/again", "POST", body: policy)
        #expect(again.json["before"]?.text == "sessionLimit")
        #expect(again.json["after"]?.text == "license")
        let extending = try await test.admin(
            "tenants/demo/decisions/request-4/again", "POST", body: #"{"version":1,"extends":"demo"}"#)
        #expect(extending.json["after"]?.text == "sessionLimit")
        let wrong = try await test.admin("tenants/demo/decisions/request-4/again", "POST", body: #"{"version":7}"#)
        #expect(wrong.status == 422)
        // A problem by its place, as a form shows it.
        #expect(wrong.list("problems").map { $0["place"]?.text } == ["version"])
    }

    @Test func `refusals are listed with the reason hidden from the client`() async throws {
        let test = try await TestServer()
        _ = try await test.license(1, token: "nonsense", requestID: "request-1")
        let refusals = try await test.admin("refusals?tenant=demo").list("refusals")
        #expect(refusals.map { $0["code"]?.text } == ["tokenForm"])
        #expect(refusals.first?["requestId"]?.text == "request-1")
        #expect(!"\(refusals)".contains("nonsense"))
    }

    @Test func `a stopped session gets no more licenses, and the audit says who stopped it`() async throws {
        let test = try await TestServer()
        try await test.importKeys([1])
        let token = try test.token("ann")
        _ = try await test.license(1, token: token, requestID: "request-1")
        let accounts = try await test.admin("tenants/demo/accounts?prefix=an").list("accounts")
        #expect(accounts.map { $0["name"]?.text } == ["ann"])
        let before = try await test.admin("tenants/demo/account?name=ann").list("slots")
        let session = try #require(before.first?["session"]?.text)
        let body = JSONValue.object(["account": .text("ann"), "session": .text(session)]).canonicalText
        let stopped = try await test.admin("tenants/demo/sessions/stop", "POST", body: body)
        #expect(stopped.status == 200)
        let after = try await test.admin("tenants/demo/account?name=ann")
        #expect(after.list("slots").isEmpty)
        #expect(after.texts("stopped", "by") == ["an operator"])
        let again = try await test.admin("tenants/demo/sessions/stop", "POST", body: body)
        #expect(again.status == 404)
        let device = try await test.admin(
            "tenants/demo/devices/forget", "POST", body: #"{"account":"ann","device":"none"}"#)
        #expect(device.status == 404)
        let audit = try await test.audit()
        #expect(audit.contains("sessionStopped demo/ann by admin:security-1"))
        #expect(audit.contains("deviceForgotten demo/ann by admin:security-1"))
    }

    @Test func `an operator stops all sessions of one account and no others`() async throws {
        let test = try await TestServer()
        try await test.importKeys([1])
        let tokens = try ["ann", "ann", "bob"].map { try test.token($0) }
        for (number, token) in tokens.enumerated() {
            #expect(try await test.license(1, token: token, requestID: "request-\(number)").status == 200)
        }
        let body = #"{"account":"ann"}"#
        let stopped = try await test.admin("tenants/demo/sessions/stop-all", "POST", body: body)
        #expect(stopped.status == 200 && stopped.list("stopped").count == 2, "\(stopped.text)")
        #expect(try await test.admin("tenants/demo/account?name=ann").list("slots").isEmpty)
        #expect(try await test.admin("tenants/demo/account?name=bob").list("slots").count == 1)
        #expect(try await test.license(1, token: tokens[0], requestID: "request-3").status == 403)
        #expect(try await test.admin("tenants/demo/sessions/stop-all", "POST", body: body).status == 404)
        let role = try await test.admin(
            "tenants/demo/sessions/stop-all", "POST", body: body, key: TestServer.key(.viewer))
        #expect(role.status == 403)
    }

    @Test func `accounts are paged`() async throws {
        let test = try await TestServer()
        try await test.importKeys([1])
        for name in ["a/1", "a/2", "b"] {
            _ = try await test.license(1, token: try test.token(name), requestID: "request-\(name.count)")
        }
        let first = try await test.admin("tenants/demo/accounts?prefix=a&limit=1")
        #expect(first.texts("accounts", "name") == ["a/1"])
        let second = try await test.admin("tenants/demo/accounts?prefix=a&limit=1&after=a%2F1")
        #expect(second.texts("accounts", "name") == ["a/2"])
        let detail = try await test.admin("tenants/demo/account?name=a%2F2")
        #expect(detail.list("slots").count == 1)
    }

    @Test func `the audit is paged from its end, and a changed entry is detected`() async throws {
        let test = try await TestServer()
        for _ in 0..<5 { _ = try await test.admin("sign-in", "POST", body: "") }
        let last = try await test.admin("audit?limit=2")
        #expect(last.list("entries").first?["sequence"]?.number == 5)
        let first = try await test.admin("audit?limit=2&from=2")
        #expect(first.list("entries").first?["event"]?["action"]?.text == "adminLogin")
        let earlier = try await test.admin("audit?limit=2&before=5&did=login&who=SECURITY")
        #expect(earlier.list("entries").map { $0["sequence"]?.number } == [3, 4])
        #expect(earlier.json["next"]?.number == 3)
        for wrong in ["since=yesterday", "until=25.11.2026", "before=x"] {
            #expect(try await test.admin("audit?\(wrong)").status == 400, "\(wrong)")
        }
        let verdict = try await test.admin("audit/verify", "POST", body: "")
        #expect(verdict.json["intact"] == .flag(true))
    }

    @Test func `an invalid configuration is refused with its problems, and the old one stays`() async throws {
        let test = try await TestServer()
        try test.folder.edit(["tenants.demo.policy": "none"])
        let reply = try await test.admin("reload", "POST", body: "")
        #expect(reply.status == 422)
        #expect(reply.json["reason"]?.text?.contains("tenants.demo.policy") == true)
        let tenants = try await test.admin("tenants").list("tenants")
        #expect(tenants.map { $0["policy"]?.text } == ["demo"])
    }
}
