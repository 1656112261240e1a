import Foundation
import LatchkeyTerminal
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// Blocks by the admin API and by the verbs.
@Suite(.timeLimit(.minutes(2))) struct AdminBlocksTests {
    private static let path = "tenants/demo/blocks"

    private static func body(_ kind: String, _ name: String, _ more: String = "") -> String {
        #"{"kind":"\#(kind)","name":"\#(name)","reason":"a test"\#(more)}"#
    }

    @Test func `a blocked device gets no license, whatever the account, and its heartbeat is refused`() async throws {
        let stage = try await TestServer(policy: ["concurrency": ["limit": 5, "heartbeat": "30s"]])
        try await stage.importKeys(1...1)
        let claims: [String: JSONValue] = ["latchkey": ["device": .text("tv-1")]]
        let token = try stage.token("ann", claims)
        let license = try await stage.license(1, token: token)
        let heartbeat = try #require(license.header("X-Latchkey-Heartbeat-Token"))
        func beat() async throws -> HTTPReply {
            try await stage.player("sessions/heartbeat", "POST", bearer: heartbeat)
        }
        #expect(try await beat().status == 200)
        let block = try await stage.admin(Self.path, "PUT", body: Self.body("device", "tv-1"))
        #expect(block.status == 200, "\(block.text)")
        #expect(try await stage.license(1, token: token).text.contains("deviceBlocked"))
        #expect(try await stage.license(1, token: stage.token("bob", claims)).text.contains("deviceBlocked"))
        #expect(try await stage.license(1, token: stage.token("ann")).status == 200)
        let refused = try await beat()
        #expect(refused.status == 403 && refused.text.contains("deviceBlocked"), "\(refused.text)")
        #expect(try await stage.admin("\(Self.path)?kind=device&name=tv-1", "DELETE", body: "").status == 200)
        #expect(try await beat().status == 200)
    }

    @Test(arguments: [
        ("{}", 400), (body("user", "ann"), 400), (body("account", ""), 400),
        (body("account", "ann", #","until":"2001-01-01T00:00:00Z""#), 400),
        (body("account", "ann", #","until":"soon""#), 400),
        (body("account", "ann", #","until":7"#), 400), (body("account", "ann", #","until":null"#), 200),
        (body("account", "ann", #","until":"2999-01-01T00:00:00Z""#), 200),
    ])
    func `a block has a kind, a name, a reason and an end in the future`(_ body: String, _ status: Int) async throws {
        let stage = try await TestServer()
        let before = try await stage.audit().count
        let reply = try await stage.admin(Self.path, "PUT", body: body)
        #expect(reply.status == status, "\(reply.text)")
        #expect(try await stage.audit().count == before + (status == 200 ? 1 : 0))
    }

    @Test func `viewers' support can look but not block, and the list goes page by page`() async throws {
        let stage = try await TestServer()
        let viewer = TestServer.key(.viewer)
        #expect(try await stage.admin(Self.path, "PUT", body: Self.body("account", "ann"), key: viewer).status == 403)
        #expect(
            try await stage.admin("\(Self.path)?kind=account&name=ann", "DELETE", body: "", key: viewer).status == 403)
        for name in ["b1", "b2", "b3", "c"] {
            for kind in ["account", "device"] {
                #expect(try await stage.admin(Self.path, "PUT", body: Self.body(kind, name)).status == 200)
            }
        }
        var (names, next): ([String], String?) = ([], "")
        while let after = next {
            let page = try await stage.admin("\(Self.path)?prefix=b&limit=1&after=\(after)", key: viewer)
            names += page.list("blocks").map { "\($0["kind"]?.text ?? "") \($0["name"]?.text ?? "")" }
            next = page.json["next"]?.text
        }
        #expect(names == ["account b1", "device b1", "account b2", "device b2", "account b3", "device b3"])
    }

    @Test func `the verbs set, list and lift a block, and print the server's refusal`() async throws {
        let stage = try await TestServer()
        let key = try stage.root.write(stage.folder.adminKey.revealedText, to: "key.txt")
        let more = ["--tenant", "demo", "--server", stage.server.addresses.operators.url, "--key", key]
        func run(_ words: String...) async -> ToolRun { await ToolRun(arguments: words + more) }
        let set = await run(
            "block", "set", "account", "ann/1", "--reason", "stolen", "--until", "2999-01-01T00:00:00Z")
        #expect(set.status == .yes && set.output.hasPrefix("Blocked. "), "\(set.error)")
        let list = await run("block", "list", "--prefix", "ann")
        #expect(list.output.hasPrefix("account ann/1, since "), "\(list.error)")
        #expect(list.output.hasSuffix(" until 2999-01-01T00:00:00.000Z, by demo: stolen\n"), "\(list.output)")
        let none = await run("block", "list", "--prefix", "bob", "--json")
        #expect(none.output == "[]\n", "\(none.error)")
        let wrong = await run("block", "set", "user", "ann", "--reason", "stolen")
        #expect(wrong.status == .usage && wrong.error.contains("account or device"), "\(wrong.error)")
        let past = await run("block", "set", "device", "tv", "--reason", "r", "--until", "2001-01-01T00:00:00Z")
        #expect(past.status == .no && past.error.contains("a time in the future"), "\(past.error)")
        let lift = await run("block", "lift", "account", "ann/1")
        #expect(lift.status == .yes && lift.output.hasPrefix("Unblocked. "), "\(lift.error)")
        let again = await run("block", "lift", "account", "ann/1")
        #expect(again.status == .no && again.error.contains("no such block"), "\(again.error)")
    }
}
