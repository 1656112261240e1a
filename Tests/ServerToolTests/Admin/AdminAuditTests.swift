import Foundation
import LatchkeyHTTP
import LatchkeyTerminal
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// The operators' traces in the audit. The addresses come from the API's own table, so that a new one with an effect fails here until
/// it leaves an entry.
@Suite(.timeLimit(.minutes(5))) struct AdminAuditTests {
    // MARK: - The addresses

    /// A request to an address, and its entries in the audit.
    struct Action {
        var query = ""
        /// The key of the path.
        var kid = AdminAuditTests.kid
        /// The events by the operator's name.
        var events: @Sendable (String) -> [AuditEvent] = { _ in [] }
        var body: @Sendable (TestServer) async throws -> String = { _ in "" }
    }

    /// One address with a method, and who may use it.
    struct Request {
        let name: String
        let method: String
        let path: String
        let role: AdminRole
        let action: Action

        func send(to test: TestServer, key: String?, dryRun: Bool = false) async throws -> HTTPReply {
            let body = try await action.body(test)
            return try await test.admin(
                path, method, body: method == "GET" ? nil : body, key: key,
                headers: dryRun ? ["X-Latchkey-Dry-Run": "1"] : [:])
        }
    }

    private static let kid = TestServer.kid(1)
    private static let device = "tv-1"
    /// The address of a stream that does not end.
    private static let endless = "GET /admin/v1/events"

    /// Everything except plain reads. A query by `POST` that changes nothing leaves no entry.
    private static let actions: [String: Action] = [
        "POST /admin/v1/sign-in": Action { [AuditEvent(.adminLogin, of: $0, by: $0)] },
        "DELETE /admin/v1/tenants/{tenant}/keys/{kid}": Action(
            kid: TestServer.kid(5),
            events: {
                [AuditEvent(.keyRemoved, of: "demo/\(TestServer.kid(5))", by: $0, details: ["former": "digest"])]
            }),
        "POST /admin/v1/tenants/{tenant}/keys/{kid}/disable": Action {
            [AuditEvent(.keyDisabled, of: "demo/\(kid)", by: $0)]
        },
        "POST /admin/v1/tenants/{tenant}/keys/{kid}/enable": Action {
            [AuditEvent(.keyEnabled, of: "demo/\(kid)", by: $0)]
        },
        "POST /admin/v1/tenants/{tenant}/cpix": Action(
            query: "?policy=demo",
            events: {
                [
                    AuditEvent(.keyImported, of: "demo", by: $0, details: ["policies": "demo"]),
                    AuditEvent(.keyImported, of: "demo", by: $0, details: keys(3...4)),
                ]
            }, body: { _ in TestServer.document(3...4, of: "news") }),
        "GET /admin/v1/tenants/{tenant}/cpix": Action(
            query: "?content=film",
            events: { [AuditEvent(.keyExported, of: "demo", by: $0, details: keys(1...2))] }),
        "POST /admin/v1/tenants/{tenant}/sessions/stop": Action(
            events: { [AuditEvent(.sessionStopped, of: "demo/ann", by: $0, details: ["session": "any"])] },
            body: { try await member("session", session($0)) }),
        "POST /admin/v1/tenants/{tenant}/sessions/stop-all": Action(
            events: { [AuditEvent(.sessionStopped, of: "demo/ann", by: $0, details: ["session": "any"])] },
            body: { test in
                if try await session(test) == "none" {
                    #expect(try await test.license(1, token: test.token("ann")).status == 200)
                }
                return #"{"account":"ann"}"#
            }),
        "POST /admin/v1/tenants/{tenant}/devices/forget": Action(
            events: { [AuditEvent(.deviceForgotten, of: "demo/ann", by: $0, details: ["device": device])] },
            body: { _ in member("device", device) }),
        "PUT /admin/v1/tenants/{tenant}/blocks": Action(
            events: {
                [AuditEvent(.blockSet, of: "demo/bob", by: $0, details: ["kind": "account", "reason": "stolen"])]
            }, body: { _ in #"{"kind":"account","name":"bob","reason":"stolen"}"# }),
        "DELETE /admin/v1/tenants/{tenant}/blocks": Action(
            query: "?kind=account&name=bob",
            events: { [AuditEvent(.blockLifted, of: "demo/bob", by: $0, details: ["kind": "account"])] }),
        "DELETE /admin/v1/tenants/{tenant}/account": Action(
            query: "?name=ann", events: { [AuditEvent(.accountErased, of: "demo", by: $0, details: ["digest": "any"])] }
        ),
        "POST /admin/v1/tenants/{tenant}/decisions/{request}/again": Action(body: { _ in #"{"version":1}"# }),
        "POST /admin/v1/audit/verify": Action(),
        "POST /admin/v1/reload": Action {
            [
                AuditEvent(.configurationLoaded, of: "configuration", by: $0),
                AuditEvent(.configurationLoaded, of: "configuration", by: node),
            ]
        },
        "POST /admin/v1/rewrap": Action {
            [AuditEvent(.keysRewrapped, of: "data-keys", by: $0, details: ["wrapper": "demo"])]
        },
        "POST /admin/v1/tenants/{tenant}/data-key": Action { [AuditEvent(.dataKeyRenewed, of: "demo", by: $0)] },
        "POST /admin/v1/tenants/{tenant}/reseal": Action { [AuditEvent(.keysResealed, of: "demo", by: $0)] },
        "POST /admin/v1/tenants/{tenant}/seed": Action { [AuditEvent(.seedRenewed, of: "demo", by: $0)] },
    ]

    private static let node = "node:\(ProcessInfo.processInfo.hostName)"

    private static func member(_ name: String, _ value: String) -> String {
        JSONValue.object(["account": .text("ann"), name: .text(value)]).canonicalText
    }

    private static func keys(_ numbers: ClosedRange<Int>) -> [String: String] {
        let kids = numbers.map(TestServer.kid)
        return [
            "endpoint": "admin", "count": "\(kids.count)", "kids": kids.joined(separator: " "), "recipients": "",
        ]
    }

    /// The session of the account `ann`; a word for none.
    private static func session(_ test: TestServer) async throws -> String {
        try await test.admin("tenants/demo/account?name=ann").list("slots").first?["session"]?.text ?? "none"
    }

    /// The requests to addresses that take more than a plain `GET`.
    private static let queries = ["/account": "?name=ann", "/erasure": "?name=ann", "/history": "?account=ann"]

    /// The requests of the API's table that do not only read, or all of them.
    static func requests(reads: Bool = false) -> [Request] {
        AdminAPI.router.routes.flatMap { route in
            route.methods.compactMap { method in
                let name = "\(method.rawValue) \(route.path.text)"
                var action = actions[name]
                if action == nil, method == .get, reads, name != endless {
                    action = Action(query: queries.first { name.hasSuffix($0.key) }?.value ?? "")
                } else if action == nil, method != .get {
                    Issue.record("\(name) has neither a case here nor, maybe, an entry in the audit.")
                }
                guard let action else { return nil }
                var path = String(route.path.text.dropFirst("/admin/v1/".count))
                let names = ["tenant": "demo", "kid": action.kid, "request": "request-1", "policy": "demo"]
                for (name, value) in names { path = path.replacing("{\(name)}", with: value) }
                return Request(
                    name: name, method: method.rawValue, path: path + action.query, role: route.handler.role,
                    action: action)
            }
        }
    }

    // MARK: - The server

    /// Runs a server with two keys, and a session on a device.
    static func run(_ body: (TestServer) async throws -> Void) async throws {
        let test = try await TestServer(
            ["record": ["folder": "spool", "destination": "files:rows"]], policy: ["devices.limit": 5])
        try await test.importKeys(1...2)
        try await test.importKeys([5], of: "gone")
        let token = try test.token("ann", ["latchkey": ["device": .text(device)]])
        let license = try await test.license(1, token: token, requestID: "request-1")
        #expect(license.status == 200, "\(license.text)")
        try await body(test)
        try await isWhole(test, token)
    }

    /// The chain holds, by the API and by the tool, and no entry has a secret.
    private static func isWhole(_ test: TestServer, _ token: String) async throws {
        #expect(try await test.admin("audit/verify", "POST", body: "").json["intact"] == .flag(true))
        let run = await ToolRun("audit", "verify", "--config", test.folder.configuration)
        #expect(run.status == .yes)
        let entries = try await test.server.shared.engines.audit.entries(from: 1, limit: 1_000)
        #expect(run.output.contains("intact up to entry \(entries.count)"), "\(run.output)")
        let key = try #require(Data(base64Encoded: TestServer.plainKey))
        var secrets = [token, TestServer.plainKey, key.hexString, "a-guessed-key"]
        secrets += AdminRole.allCases.map(TestServer.key)
        for name in ["kek.hex", "node-secret.hex", "token-key.hex", "packager-key.txt", "admin-key.txt"] {
            secrets.append(try test.folder.text(name).trimmingCharacters(in: .whitespacesAndNewlines))
        }
        for secret in secrets { #expect(!entries.contains { $0.text.contains(secret) }, "A secret is in the audit.") }
    }

    /// The entries that the audit gained beyond a count. A session's name is unpredictable, and reads `any`.
    private static func events(_ test: TestServer, since count: Int) async throws -> [AuditEvent] {
        try await test.server.shared.engines.audit.entries(from: UInt64(count) + 1, limit: 1_000).map { entry in
            let json = try #require(JSONValue(Data(entry.text.utf8)))
            guard case .object(let members)? = json["details"] else { throw CocoaError(.coderReadCorrupt) }
            var details = members.mapValues { $0.text ?? "" }
            if json["actor"]?.text?.hasPrefix("admin:") == true {
                #expect(details.removeValue(forKey: "request").flatMap { RequestID($0) }?.node != nil, "\(entry.text)")
            }
            if let session = details["session"], session != "none" { details["session"] = "any" }
            if details["digest"]?.wholeMatch(of: /[0-9a-f]{32}/) != nil { details["digest"] = "any" }
            if details["former"]?.wholeMatch(of: /[0-9a-f]{16}/) != nil { details["former"] = "digest" }
            return AuditEvent(
                try #require(AuditEvent.Action(rawValue: json["action"]?.text ?? "")), of: json["object"]?.text ?? "",
                by: json["actor"]?.text ?? "", details: details)
        }
    }

    static func count(_ test: TestServer) async throws -> Int {
        Int(try await test.server.shared.engines.audit.last()?.sequence ?? 0)
    }

    // MARK: - Tests

    @Test func `each action of the API's table writes audit entries, and reads write none`() async throws {
        try await Self.run { test in
            let requests = Self.requests(reads: true)
            for request in requests {
                let before = try await Self.count(test)
                let reply = try await request.send(to: test, key: TestServer.key(request.role))
                #expect(reply.status == 200, "\(request.name): \(reply.status) \(reply.text)")
                let events = try await Self.events(test, since: before)
                #expect(events == request.action.events("admin:\(request.role.rawValue)-1"), "\(request.name)")
            }
            #expect(Set(Self.actions.keys).isSubset(of: requests.map(\.name)))
        }
    }

    @Test func `a caller without the role or a key changes nothing and writes no entry`() async throws {
        try await Self.run { test in
            let before = try await Self.count(test)
            for request in Self.requests() {
                for role in AdminRole.allCases where role < request.role {
                    let reply = try await request.send(to: test, key: TestServer.key(role))
                    #expect(reply.status == 403 && reply.json["code"]?.text == "adminRole", "\(request.name)")
                }
                #expect(try await request.send(to: test, key: nil).status == 401, "\(request.name)")
            }
            #expect(try await Self.events(test, since: before) == [])
            #expect(try await Self.session(test) != "none")
        }
    }

    @Test func `the audit records the address of a wrong key, whatever it requested`() async throws {
        let requests = Self.requests()
        // The audit reports the first one within a minute, so each gets its own server.
        #expect(requests.count > 10)
        for request in requests {
            try await Self.run { test in
                let before = try await Self.count(test)
                let reply = try await request.send(to: test, key: "a-guessed-key")
                #expect(reply.status == 401, "\(request.name)")
                let refused = AuditEvent(.adminRefused, of: "admin", by: "address:127.0.0.1")
                #expect(try await Self.events(test, since: before) == [refused], "\(request.name)")
            }
        }
    }

    @Test func `while the audit takes nothing, no key leaves and nothing changes; operators may sign in`() async throws
    {
        try await Self.run { test in
            let engines = test.server.shared.engines
            let reloads = Locked(0)
            let api = try Self.api(test, MemoryAuditStore(limit: 0)) { reloads.withLock { $0 += 1 } }
            let kept = (
                try await engines.keys.page(of: "demo", search: "", after: nil, limit: 100),
                try await engines.keys.dataKeys(), try await Self.session(test)
            )
            for request in Self.requests() where !request.action.events("").isEmpty {
                let reply = await Self.ask(
                    api, request.path, request.method, body: try await request.action.body(test))
                let signsIn = request.name.hasSuffix("/sign-in")
                #expect(reply.status == (signsIn ? 200 : 503), "\(request.name)")
            }
            #expect(reloads.withLock { $0 } == 0)
            #expect(try await engines.keys.page(of: "demo", search: "", after: nil, limit: 100) == kept.0)
            #expect(try await engines.keys.dataKeys() == kept.1)
            #expect(try await Self.session(test) == kept.2)
        }
    }

    @Test func `an audit that is full after the first entry hides neither the change nor the failure`()
        async throws
    {
        try await Self.run { test in
            let document = TestServer.document(3...4, of: "news")
            let done = await Self.ask(
                try Self.api(test, MemoryAuditStore(limit: 1)), "tenants/demo/cpix", "POST", body: document)
            #expect(done.status == 200)
            let failed = await Self.ask(
                try Self.api(test, MemoryAuditStore(limit: 1)), "tenants/demo/keys/\(TestServer.kid(9))/disable", "POST"
            )
            #expect(failed.status == 404)
        }
    }

    /// The API of the server with a separate audit.
    static func api(
        _ test: TestServer, _ audit: any AuditStore, reload: @escaping @Sendable () -> Void = {}
    ) throws -> AdminAPI {
        let engines = test.server.shared.engines
        let full = ServerEngines(
            settings: engines.settings, sessions: engines.sessions, keys: engines.keys,
            audit: audit, changes: engines.changes)
        return AdminAPI(
            shared: try ServerShared(test.server.file, full, LineWriter { _ in }),
            state: { [server = test.server] in server.current },
            reload: {
                reload()
                return []
            }, wrongKeys: WrongKeys())
    }

    static func ask(
        _ api: AdminAPI, _ path: String, _ method: String, body: String = "", requestID: String = "request-of-test"
    ) async -> HTTPResponse {
        await api.answer(
            HTTPRequest(
                method: HTTPMethod(rawValue: method), target: "/admin/v1/\(path)",
                headers: [.authorization: "Bearer \(TestServer.key(.security))", .requestID: requestID],
                body: Data(body.utf8)))
    }

    @Test(arguments: [
        ("tenants/demo/keys/\(TestServer.kid(9))/disable", "", AuditEvent.Action.keyDisabled),
        ("tenants/demo/sessions/stop", member("session", "none"), .sessionStopped),
        ("tenants/demo/sessions/stop-all", #"{"account":"nobody"}"#, .sessionStopped),
        ("tenants/demo/devices/forget", member("device", "none"), .deviceForgotten),
        ("tenants/demo/cpix", "{}", .keyImported),
        ("reload", "", .configurationLoaded),
    ])
    func `a failed action writes a second entry`(
        _ path: String, _ body: String, _ action: AuditEvent.Action
    ) async throws {
        try await Self.run { test in
            try test.folder.edit(["tenants.demo.policy": "none"])
            let before = try await Self.count(test)
            let reply = try await test.admin(path, "POST", body: body)
            #expect((400..<500).contains(reply.status))
            let events = try await Self.events(test, since: before)
            let (first, second) = (try #require(events.first), try #require(events.last))
            #expect(events.count == 2 && first.details["failed"] == nil)
            let failed = try #require(second.details["failed"])
            #expect(failed == reply.json["code"]?.text)
            let details = first.details.merging(["failed": failed]) { $1 }
            #expect(second == AuditEvent(action, of: first.object, by: "admin:security-1", details: details))
            #expect((first.action, first.actor) == (second.action, second.actor))
        }
    }

    @Test func `a file change is audited with its node and differences, and an invalid one is not`()
        async throws
    {
        try await Self.run { test in
            _ = try await TenantSecrets.create(
                "second", in: test.server.shared.engines.keys, with: test.server.current.wrapping)
            let time = ManualTimekeeper()
            let watch = Task { [server = test.server] in await server.watchFiles(time) }
            await time.untilSomeoneSleeps()
            let before = try await Self.count(test)
            try test.folder.edit(["validity.lease": "10m"], in: "policies/demo.json")
            try test.folder.edit(["tenants.second": [:]])
            time.advance(by: .seconds(1))
            await time.untilSomeoneSleeps()
            let changes = ["policies": "demo", "tenants": "+second"]
            let loaded = AuditEvent(.configurationLoaded, of: "configuration", by: Self.node, details: changes)
            #expect(try await Self.events(test, since: before) == [loaded])
            try test.folder.edit(["tenants.demo.policy": "none"])
            time.advance(by: .seconds(1))
            await time.untilSomeoneSleeps()
            #expect(try await Self.events(test, since: before) == [loaded])
            watch.cancel()
            await watch.value
        }
    }
}
