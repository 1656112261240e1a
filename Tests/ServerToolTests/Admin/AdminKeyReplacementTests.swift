import Foundation
import LatchkeyHTTP
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// Keys that operators replace and remove, and the packagers' answers.
@Suite(.timeLimit(.minutes(5))) struct AdminKeyReplacementTests {
    private static let other = "AgICAgICAgICAgICAgICAg=="

    /// A document of keys with other bytes than `TestServer.document`.
    private static func document(_ numbers: [Int]) -> String {
        TestServer.document(numbers).replacing(TestServer.plainKey, with: other)
    }

    /// The details of the audit's entries of an action.
    private static func details(_ action: String, _ test: TestServer) async throws -> [JSONValue] {
        try await test.server.shared.engines.audit.entries(from: 1, limit: 1_000).compactMap {
            let event = JSONValue(Data($0.text.utf8))
            return event?["action"]?.text == action ? event?["details"] : nil
        }
    }

    private static func exported(_ test: TestServer) async throws -> String {
        try await test.admin("tenants/demo/cpix?content=film").text
    }

    @Test func `a conflict names the option with which an operator replaces only the named keys`()
        async throws
    {
        let test = try await TestServer()
        _ = try await test.admin("tenants/demo/cpix?policy=demo", "POST", body: TestServer.document(1...2))
        let (one, two, three) = (TestServer.kid(1), TestServer.kid(2), TestServer.kid(3))
        let conflict = try await test.packager("cpix", "POST", body: Self.document([1, 2, 3]))
        #expect(conflict.status == 409)
        #expect(conflict.json["remedy"]?.text?.contains("/admin/v1/tenants/TENANT/cpix?replace=\(one),\(two)") == true)
        let refused = try await test.packager("cpix?replace=\(one)", "POST", body: Self.document([1]))
        #expect(refused.status == 403)
        #expect(refused.text.contains("cpixReplace"))
        _ = try await test.license(1, token: test.token(), requestID: "request-1")

        let replaced = try await test.admin(
            "tenants/demo/cpix?replace=\(one),\(three)", "POST", body: Self.document([1, 2, 3]))
        #expect(replaced.status == 409, "\(replaced.text)")
        #expect(replaced.json["replaced"]?.texts == [one])
        #expect(replaced.json["conflicts"]?.texts == [two])
        let license = try await test.license(1, token: test.token(), requestID: "request-2")
        #expect(license.text.contains(Base64URL.text([UInt8](repeating: 2, count: 16))), "The memory has the old key.")
        let page = try await test.admin("tenants/demo/keys/\(one)")
        #expect(page.json["key"]?["policies"]?.texts == ["demo"], "A key keeps its policies.")

        let details = try await Self.details("keyReplaced", test)
        #expect(details.count == 1)
        let (former, new) = (details.first?["former"]?.text ?? "", details.first?["new"]?.text ?? "")
        #expect(former.wholeMatch(of: /[0-9a-f]{16}/) != nil && new.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        #expect(former != new)
        #expect(try await test.audit().contains("keyReplaced demo/\(one) by admin:security-1"))
    }

    /// Changes the subject of an entry elsewhere, once, before the action is done.
    private struct MeddledAudit: AuditStore {
        let memory = MemoryAuditStore()
        let meddle: @Sendable () async -> Void
        private let isDone = Locked(false)

        init(_ meddle: @escaping @Sendable () async -> Void) { self.meddle = meddle }

        var engine: String { memory.engine }
        var reach: EngineReach { memory.reach }

        func append(_ entry: AuditEntry) async throws(StoreError) -> Bool {
            let isFirst = isDone.withLock { isDone in
                defer { isDone = isDone || entry.text.contains("keyReplaced") }
                return !isDone && entry.text.contains("keyReplaced")
            }
            if isFirst { await meddle() }
            return try await memory.append(entry)
        }

        func last() async throws(StoreError) -> AuditEntry? { try await memory.last() }

        func entries(from sequence: UInt64, limit: Int) async throws(StoreError) -> [AuditEntry] {
            try await memory.entries(from: sequence, limit: limit)
        }
    }

    @Test func `the audit says which of two concurrent replacements was done, and by which request`() async throws {
        let test = try await TestServer()
        try await test.importKeys([1])
        let path = "tenants/demo/cpix?replace=\(TestServer.kid(1))"
        let audit = MeddledAudit { _ = try? await test.admin(path, "POST", body: Self.document([1])) }
        let third = TestServer.document([1]).replacing(TestServer.plainKey, with: "AwMDAwMDAwMDAwMDAwMDAw==")
        let late = await AdminAuditTests.ask(
            try AdminAuditTests.api(test, audit), path, "POST", body: third, requestID: "request-late")
        #expect(late.status == 409)
        let done = try #require(try await Self.details("keyReplaced", test).first)
        #expect(done["failed"] == nil && done["request"]?.text.flatMap { RequestID($0) }?.node != nil)
        let events = try await audit.entries(from: 1, limit: 9).compactMap { JSONValue(Data($0.text.utf8)) }
        let replaced = events.filter { $0["action"]?.text == "keyReplaced" }.compactMap { $0["details"] }
        #expect(replaced.map { $0["former"]?.text } == [done["former"]?.text, done["former"]?.text])
        #expect(Set(replaced.map { $0["new"]?.text }).count == 1 && replaced.first?["new"] != done["new"])
        #expect(replaced.map { $0["failed"]?.text != nil } == [false, true])
        #expect(events.allSatisfy { $0["details"]?["request"]?.text == "request-late" }, "\(events)")
        #expect(try await Self.exported(test).contains(Self.other))
    }

    @Test(arguments: [
        ("replace=x", 400, "cpixReplace"), ("replace=\(TestServer.kid(9))", 422, "cpixReplace"),
        ("content=", 400, "cpixContent"),
    ])
    func `an invalid query changes nothing`(_ query: String, _ status: Int, _ code: String)
        async throws
    {
        let test = try await TestServer()
        let reply = try await test.admin("tenants/demo/cpix?\(query)", "POST", body: Self.document([1]))
        #expect(reply.status == status, "\(reply.text)")
        #expect(reply.json["code"]?.text == code)
        #expect(try await test.server.shared.engines.keys.page(of: "demo", search: "film", after: nil, limit: 9) == [])
    }

    @Test func `a removed key leaves the store and memory, and can be imported again`() async throws {
        let test = try await TestServer()
        try await test.importKeys(1...2)
        let path = "tenants/demo/keys/\(TestServer.kid(1))"
        #expect(try await test.license(1, token: test.token(), requestID: "request-1").status == 200)
        let forbidden = try await test.admin(path, "DELETE", key: TestServer.key(.operator))
        #expect(forbidden.status == 403)
        let before = try await test.admin("tenants/demo/keys").json["count"]?.number
        let removed = try await test.admin(path, "DELETE")
        #expect(removed.status == 200, "\(removed.text)")
        #expect(try await test.license(1, token: test.token(), requestID: "request-2").status == 404)
        #expect(try await test.admin(path).status == 404)
        #expect(try await test.admin(path, "DELETE").status == 404)
        #expect(try await test.admin("tenants/demo/keys").json["count"]?.number == before.map { $0 - 1 })
        let details = try await Self.details("keyRemoved", test)
        #expect(details.count == 1)
        #expect(details.first?["former"]?.text?.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        let again = try await test.admin("tenants/demo/cpix", "POST", body: Self.document([1]))
        #expect(again.json["imported"]?.number == 1)
    }

    @Test func `a key without an IV is refused, and one with a wrong IV is corrected`() async throws {
        let test = try await TestServer()
        for iv in ["", #"explicitIV="AAAAAAAAAAAAAAAAAAAAAA==""#] {
            let text = TestServer.document([1, 2])
                .replacing(#"explicitIV="\#(TestServer.plainIV)""#, with: iv)
                .replacing(#"commonEncryptionScheme="cbcs""#, with: "")
            let reply = try await test.packager("cpix", "POST", body: text)
            #expect(reply.status == 422)
            for number in 1...2 { #expect(reply.text.contains(TestServer.kid(number))) }
        }
        let wrong = TestServer.document([1]).replacing(TestServer.plainIV, with: Self.other)
        #expect(try await test.packager("cpix", "POST", body: wrong).status == 200)
        let right = try await test.admin(
            "tenants/demo/cpix?replace=\(TestServer.kid(1))", "POST", body: TestServer.document([1]))
        #expect(right.status == 200)
        #expect(try await Self.exported(test).contains(TestServer.plainIV))
    }

    @Test func `a SPEKE 1 document uses the content of its id, or the caller's`() async throws {
        let test = try await TestServer()
        let text = TestServer.document([1]).replacing(#"contentId="film" version="2.3""#, with: #"id="vendor-asset""#)
        #expect(try await test.packager("cpix", "POST", body: text).status == 200)
        #expect(try await test.admin("tenants/demo/keys?search=vendor-asset").list("keys").count == 1)
        let second = text.replacing(TestServer.kid(1), with: TestServer.kid(2))
        #expect(try await test.packager("cpix?content=caller", "POST", body: second).status == 200)
        #expect(try await test.admin("tenants/demo/keys?search=caller").list("keys").count == 1)
    }

    @Test func `a content whose key URI is too long is refused with its length`() async throws {
        let test = try await TestServer()
        let long = String(repeating: "x", count: 158)
        let reply = try await test.packager("cpix", "POST", body: TestServer.document([1], of: long))
        #expect(reply.status == 422)
        #expect(reply.text.contains("has 201 bytes") && reply.text.contains("xxxx"), "\(reply.text)")
        let good = String(repeating: "x", count: 157)
        #expect(try await test.packager("cpix", "POST", body: TestServer.document([1], of: good)).status == 200)
    }
}
