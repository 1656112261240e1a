import Foundation
import LatchkeyFairPlay
import LatchkeyHTTP
import TLSPeer
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import LatchkeyVendorWire
@testable import TestServers

/// Two tenants, two certificates, operators of each and of both: none sees or changes anything of another tenant.
///
/// The addresses come from the routers' own tables, so that a new one is tested, too.
// One file beyond 400 lines: a new address has its question next to all others.
@Suite(.timeLimit(.minutes(5))) struct TenantBorderTests {
    /// How many combinations were asked.
    private final class Cells: Sendable {
        private let number = Locked(0)
        var count: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    // MARK: - Operators

    /// The request to an address of the admin API.
    private struct Question {
        var query = ""
        var body: (@Sendable (TenantStage, Owner) async throws -> String)?
        /// Whether it changes something; then each operator gets a separate key to change.
        var kid: @Sendable (Owner, Int) -> String = { owner, _ in owner.kid(1) }
    }

    /// The requests to addresses that take more than a plain `GET`. `{}` is the tenant's name.
    private static let questions: [String: Question] = [
        "POST /admin/v1/sign-in": Question(body: { _, _ in "" }),
        "GET /admin/v1/refusals": Question(query: "?tenant={}"),
        "GET /admin/v1/decisions": Question(query: "?tenant={}"),
        "GET /admin/v1/audit": Question(query: "?to={}"),
        "GET /admin/v1/tenants/{tenant}/account": Question(query: "?name={}-ann"),
        "GET /admin/v1/tenants/{tenant}/report": Question(query: "?by=account&last=1h"),
        "GET /admin/v1/tenants/{tenant}/viewers": Question(query: "?last=1h"),
        "GET /admin/v1/tenants/{tenant}/history": Question(query: "?account={}-ann&last=1h"),
        "GET /admin/v1/tenants/{tenant}/cpix": Question(query: "?content={}-film"),
        "DELETE /admin/v1/tenants/{tenant}/keys/{kid}": Question(kid: { $0.kid(100 + $1) }),
        "POST /admin/v1/tenants/{tenant}/keys/{kid}/disable": Question(
            body: { _, _ in "" }, kid: { owner, _ in owner.kid(2) }),
        "POST /admin/v1/tenants/{tenant}/keys/{kid}/enable": Question(
            body: { _, _ in "" }, kid: { owner, _ in owner.kid(2) }),
        "POST /admin/v1/tenants/{tenant}/cpix": Question(
            query: "?policy={}-terms", body: { _, owner in owner.document([300], of: "\(owner.name)-news") }),
        "POST /admin/v1/tenants/{tenant}/sessions/stop": Question(body: { stage, owner in
            #"{"account":"\#(owner.name)-ann","session":"\#(try await stage.session(owner))"}"#
        }),
        "POST /admin/v1/tenants/{tenant}/sessions/stop-all": Question(body: { stage, owner in
            _ = try await stage.session(owner)
            return #"{"account":"\#(owner.name)-ann"}"#
        }),
        "POST /admin/v1/tenants/{tenant}/devices/forget": Question(body: { stage, owner in
            _ = try await stage.session(owner)
            return #"{"account":"\#(owner.name)-ann","device":"\#(owner.name)-tv"}"#
        }),
        "PUT /admin/v1/tenants/{tenant}/blocks": Question(body: { _, owner in block(owner) }),
        "DELETE /admin/v1/tenants/{tenant}/blocks": Question(
            query: "?kind=device&name={}-box",
            body: { stage, owner in
                let path = "admin/v1/tenants/\(owner.name)/blocks"
                let operators = StagedOperator(role: .operator, owner: nil)
                let reply = try await stage.admin(path, "PUT", body: block(owner), by: operators)
                #expect(reply.status == 200)
                return ""
            }),
        "GET /admin/v1/tenants/{tenant}/account/erasure": Question(query: "?name={}-ann"),
        "DELETE /admin/v1/tenants/{tenant}/account": Question(query: "?name={}-gone"),
        "POST /admin/v1/tenants/{tenant}/decisions/{request}/again": Question(body: { _, _ in #"{"version":1}"# }),
        "POST /admin/v1/audit/verify": Question(body: { _, _ in "" }),
        "POST /admin/v1/reload": Question(body: { _, _ in "" }),
        "POST /admin/v1/rewrap": Question(body: { _, _ in "" }),
        "POST /admin/v1/tenants/{tenant}/data-key": Question(body: { _, _ in "" }),
        "POST /admin/v1/tenants/{tenant}/reseal": Question(body: { _, _ in "" }),
        "POST /admin/v1/tenants/{tenant}/seed": Question(body: { _, _ in "" }),
    ]
    private static func block(_ owner: Owner) -> String {
        #"{"kind":"device","name":"\#(owner.name)-box","reason":"a test"}"#
    }
    /// The address of a stream that does not end, which has its own test.
    private static let endless = "GET /admin/v1/events"

    private static func path(_ text: String, _ tenant: String, _ request: String, _ kid: String) -> String {
        var path = String(text.dropFirst())
        for (name, value) in ["tenant": tenant, "kid": kid, "request": request, "policy": "\(tenant)-terms"] {
            path = path.replacing("{\(name)}", with: value)
        }
        return path
    }

    @Test func `no operator sees or changes another tenant's data, at any address`() async throws {
        let cells = Cells()
        let stage = try await TenantStage(whole: #""record":{"folder":"spool","destination":"files:rows"},"#)
        try await stage.live()
        try await stage.recorded()
        for owner in Owner.both {
            let spare = owner.document(Array(101...120), of: "\(owner.name)-spare")
            #expect(try await stage.packager("cpix", "POST", body: spare, at: owner.name, by: owner).status == 200)
            let path = "admin/v1/tenants/\(owner.name)/blocks"
            let blocked = try await stage.admin(path, "PUT", body: Self.block(owner), by: StagedOperator.all.last)
            #expect(blocked.status == 200)
        }
        for route in AdminAPI.routes {
            for method in route.methods {
                let name = "\(method.rawValue) \(route.path.text)"
                guard name != Self.endless else { continue }
                let question = Self.questions[name] ?? Question()
                if method != .get, Self.questions[name] == nil { Issue.record("Nobody asks \(name) here.") }
                for (owner, one) in Owner.both.flatMap({ owner in StagedOperator.all.map { (owner, $0) } }) {
                    try await Self.ask(stage, name, route, method, question, owner, one)
                    cells.add()
                }
            }
        }
        #expect(cells.count == 2 * 9 * (AdminAPI.routes.flatMap(\.methods).count - 1) && cells.count >= 540)
    }

    /// Asks one address about a tenant as one operator, and compares the answer with the operator's rights.
    private static func ask(
        _ stage: TenantStage, _ name: String, _ route: Route<AdminAPI.Page>, _ method: HTTPMethod, _ question: Question,
        _ owner: Owner, _ one: StagedOperator
    ) async throws {
        let number = StagedOperator.all.firstIndex { $0.name == one.name } ?? 0
        let query = question.query.replacing("{}", with: owner.name)
        let address = path(route.path.text, owner.name, "\(owner.name)-request", question.kid(owner, number)) + query
        let (page, covers) = (route.handler, one.covers(owner))
        let isNamed = route.path.text.contains("{")
        let mayAsk = one.role >= page.role && (page.scope != .server || one.owner == nil)
        let isFound = covers || page.scope == .server || page.scope == .own && !isNamed
        let before = try await stage.server.shared.engines.audit.last()?.sequence
        let body =
            mayAsk && isFound
            ? try await question.body?(stage, owner)
            : question.body.map { _ in #"{"account":"x","session":"x","device":"x"}"# }
        let reply = try await stage.admin(address, method.rawValue, body: body, by: one)
        let cell: Comment = "\(one.name) asks \(name) of \(owner.name): \(reply.status) \(reply.text.prefix(400))"
        if one.role < page.role {
            #expect(reply.status == 403 && reply.text.contains("adminRole"), cell)
        } else if !mayAsk {
            #expect(reply.status == 403 && reply.text.contains("adminScope"), cell)
        } else if !isFound {
            // As if the tenant did not exist: the same bytes.
            let none = path(route.path.text, "nobody", "nobody-request", question.kid(owner, number)) + query
            let other = try await stage.admin(none, method.rawValue, body: body, by: one)
            #expect(reply.status == 404 && other.status == 404 && reply.body == other.body, cell)
        } else {
            #expect((200..<300).contains(reply.status), cell)
            // Counts of viewers contain no names.
            if covers, page.scope == .tenant, method == .get, !name.hasSuffix("/viewers") {
                #expect(try !stage.traces(of: owner, in: reply).isEmpty || reply.text.count < 60, cell)
            }
        }
        if !(mayAsk && isFound) {
            #expect(try await stage.server.shared.engines.audit.last()?.sequence == before, cell)
        }
        guard let own = one.owner else { return }
        #expect(try stage.traces(of: own.other, in: reply) == [], cell)
    }

    @Test func `the API's table gives each address its least role and scope, and the page agrees`() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Documentation/Server/Tenants.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let rows = AdminAPI.routes.map { route in
            let methods = route.methods.map(\.rawValue).joined(separator: " ")
            return
                "| `\(methods) \(route.path.text)` | \(route.handler.role.rawValue) | \(route.handler.scope.rawValue) |"
        }
        #expect(rows.filter { !text.contains($0) } == [], "Write these into the table.")
        #expect(text.split(separator: "\n").count { $0.hasPrefix("| `") && $0.contains("/admin/v1/") } == rows.count)
        for route in AdminAPI.routes {
            #expect(route.path.text.contains("{tenant}") == (route.handler.scope == .tenant), "\(route.path.text)")
        }
    }

    @Test func `a tenant's operator lists their part of every list, and nothing more`() async throws {
        let stage = try await TenantStage()
        try await stage.live()
        for path in ["refusals", "decisions", "tenants", "credentials", "policies"] {
            let all = try await stage.admin("admin/v1/\(path)", by: StagedOperator(role: .viewer, owner: nil))
            for owner in Owner.both {
                let own = try await stage.admin("admin/v1/\(path)", by: StagedOperator(role: .viewer, owner: owner))
                let (all, rows) = (JSONValue(all.body)?[path], JSONValue(own.body)?[path])
                guard case .array(let all)? = all, case .array(let rows)? = rows else {
                    Issue.record("\(path) is no list.")
                    continue
                }
                let expected = all.filter { $0.canonicalText.contains(owner.name) }
                #expect(!expected.isEmpty && rows == expected, "\(path)")
            }
        }
        let overview = try await stage.admin("admin/v1/overview", by: StagedOperator(role: .viewer, owner: .amber))
        #expect(JSONValue(overview.body)?["totals"]?["granted"]?.number == 2)
        #expect(JSONValue(overview.body)?["pool"] == nil)
    }

    @Test func `the feed shows an operator their tenant's events and no others`() async throws {
        let stage = try await TenantStage()
        try await stage.live()
        let port = try #require(URL(string: stage.server.addresses.operators.url)?.port.flatMap { UInt16(exactly: $0) })
        let readers = try StagedOperator.all.map { one in
            let reader = try LocalSocket(port)
            reader.send(
                Data("GET /admin/v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(one.key)\r\n\r\n".utf8))
            return (one, reader)
        }
        var texts: [String: String] = [:]
        for (one, reader) in readers { texts[one.name] = try await reader.read(until: "event: overview") }
        for number in 0..<3 {
            for owner in Owner.both {
                _ = try await stage.play(owner, 78, requestID: "\(owner.name)-late-\(number)")
            }
        }
        for (one, reader) in readers {
            let last = one.owner?.name ?? "bronze"
            let text = ((texts[one.name] ?? "") + (try await reader.read(until: "\(last)-late-2"))).lowercased()
            #expect(text.hasPrefix("http/1.1 200"))
            guard let owner = one.owner else {
                #expect(text.contains("amber-late-1") && text.contains("bronze-late-1"))
                continue
            }
            let certificate = try #require(stage.certificates[owner.other.name])
            #expect(owner.other.traces(certificate).filter { text.contains($0) } == [], "\(one.name)")
        }
    }

    @Test func `metrics and readiness details need a key, and show an operator their tenants`() async throws {
        let stage = try await TenantStage()
        try await stage.live()
        #expect(try await stage.admin("metrics", by: nil).status == 401)
        for one in StagedOperator.all {
            let reply = try await stage.admin("metrics", by: one)
            #expect(reply.status == 200)
            if let own = one.owner {
                #expect(try stage.traces(of: own.other, in: reply) == [], "\(one.name)")
                #expect(reply.text.contains(#"latchkey_license_requests_total{tenant="\#(own.name)""#))
                #expect(!reply.text.contains("latchkey_pool_limit"))
            } else {
                #expect(reply.text.contains("latchkey_pool_limit") && reply.text.contains(#"tenant="amber""#))
            }
            let ready = try await stage.admin("readyz?verbose", by: one)
            #expect(ready.status == 200 && ready.text.contains("checks") == (one.owner == nil))
        }
        for path in ["readyz?verbose", "readyz", "livez"] {
            let reply = try await stage.admin(path, by: nil)
            #expect(reply.status == 200 && !reply.text.contains("checks"))
        }
    }

    // MARK: - Players and packagers

    @Test func `a tenant's viewer gets nothing at another's addresses`() async throws {
        let cells = Cells()
        let stage = try await TenantStage(more: #","slots":"players""#)
        try await stage.live()
        for owner in Owner.both {
            for route in PlayerAPI.routes {
                for method in route.methods {
                    for bearer in [nil, owner, owner.other] as [Owner?] {
                        let isSession = [.heartbeat, .session].contains(route.handler)
                        var token = try bearer?.token()
                        if isSession, let bearer {
                            token = try await stage.play(bearer).header("X-Latchkey-Heartbeat-Token")
                            #expect(token != nil)
                        }
                        for spc in route.handler == .fairPlay ? [owner, owner.other] : [owner] {
                            let kid = Base64URL.text(try #require(KeyID(owner.kid(1))).bytes)
                            let body =
                                switch route.handler {
                                case .clearKey: Data(#"{"kids":["\#(kid)"]}"#.utf8)
                                case .slot: Data(#"{"drm":"widevine","kid":"\#(owner.kid(1))"}"#.utf8)
                                default: try stage.spc(spc.name, owner)
                                }
                            let path = String(route.path.text.dropFirst("/t/{tenant}/".count))
                            let reply = try await stage.player(
                                path, method.rawValue, body: method == .post ? body : nil, at: owner.name,
                                bearer: token)
                            let isForAll = [.certificate, .slotDescription].contains(route.handler)
                            let isOwn = bearer == owner && spc == owner || isForAll
                            let cell: Comment =
                                "\(method) \(path) at \(owner.name), token of \(bearer?.name ?? "nobody"), SPC for \(spc.name): \(reply.status) \(reply.text.prefix(300))"
                            #expect((reply.status < 300) == isOwn, cell)
                            // The SPC's own hash comes back, as any certificate's does.
                            var traces = try stage.traces(of: owner.other, in: reply)
                            let hash = try #require(stage.certificates[spc.name]).fingerprint.hexString
                            if spc != owner { traces.removeAll { $0 == hash } }
                            #expect(traces == [], cell)
                            cells.add()
                        }
                    }
                }
            }
        }
        #expect(cells.count >= 42)
    }

    @Test func `an SPC for another tenant's certificate is refused like a stranger's`() async throws {
        let stage = try await TenantStage()
        try await stage.live()
        for owner in Owner.both {
            var bodies: [String] = []
            for certificate in [owner.other.name, "stranger"] {
                let reply = try await stage.player(
                    "fairplay", body: stage.spc(certificate, owner), at: owner.name, bearer: owner.token())
                #expect(reply.status == 400 && reply.text.contains("unknownCertificate"))
                let hash = try #require(stage.certificates[certificate]).fingerprint.hexString
                bodies.append(reply.text.replacing(hash, with: "HASH"))
            }
            #expect(bodies[0] == bodies[1])
            let certificate = try await stage.player("certificate", "GET", at: owner.name)
            #expect(certificate.body == stage.certificates[owner.name]?.der)
        }
    }

    @Test
    func `a packager cannot get or add keys at another tenant's addresses, nor learn which tenants exist`()
        async throws
    {
        let cells = Cells()
        let stage = try await TenantStage()
        try await stage.live()
        for owner in Owner.both {
            for route in PackagerAPI.routes {
                for method in route.methods {
                    for caller in [nil, owner, owner.other] as [Owner?] {
                        let path =
                            String(route.path.text.dropFirst("/t/{tenant}/".count))
                            + (method == .get ? "?content=\(owner.name)-film" : "")
                        let body = method == .post ? owner.document([1], of: "\(owner.name)-film") : nil
                        let reply = try await stage.packager(
                            path, method.rawValue, body: body, at: owner.name, by: caller)
                        let cell: Comment =
                            "\(method) \(path) at \(owner.name) by \(caller?.name ?? "nobody"): \(reply.status) \(reply.text.prefix(300))"
                        #expect(try stage.traces(of: owner.other, in: reply) == [], cell)
                        cells.add()
                        guard caller != owner else {
                            #expect(reply.status != 401 && reply.status != 403, cell)
                            continue
                        }
                        let none = try await stage.packager(path, method.rawValue, body: body, at: "nobody", by: caller)
                        #expect(reply.status == (caller == nil ? 401 : 403), cell)
                        #expect(reply.status == none.status && reply.body == none.body, cell)
                        #expect(try stage.traces(of: owner, in: reply) == [], cell)
                    }
                }
            }
        }
        #expect(cells.count >= 36)
    }

    /// The vendors' paths that take an SPC without an envelope.
    private static let raw = [
        "/vudrm/license/{content}", "/ezdrm/api/licenses/{asset...}", "/titanium/titanium/license",
        "/conax/conax-fairplay/license", "/expressplay/hms/fp/rights/",
        "/generic/raw", "/jw-platform/fairplay/process-spc", "/mux/license/fairplay/{id}", "/naver/api/v1/license",
    ]

    @Test func `no token for one tenant's vendor API works at another's`() async throws {
        let cells = Cells()
        let stage = try await TenantStage()
        try await stage.live()
        let mounted = stage.server.current.vendors.routes
        #expect(mounted.count > 8)
        for (tenant, base, route) in mounted {
            let owner = try #require(Owner.both.first { $0.name == tenant })
            for method in route.methods {
                for bearer in [nil, owner, owner.other] as [Owner?] {
                    var path = base.replacing("/t/\(tenant)/", with: "") + route.path.text
                    for name in [
                        "content", "client", "merchant", "asset...", "customer", "id", "owner", "tenant", "account...",
                        "library", "video", "app",
                    ] {
                        let value =
                            switch name {
                            case "content", "asset...": owner.kid(1)
                            case "id": String(repeating: owner.digit, count: 32)
                            default: "\(owner.name)-\(name == "merchant" ? "shop" : name)"
                            }
                        path = path.replacing("{\(name)}", with: value)
                    }
                    if let bearer { path += "?token=\(try bearer.token())&customdata=\(try bearer.token())" }
                    var headers = ["Content-Type": "application/octet-stream"]
                    if let bearer {
                        for api in VendorAPIKind.all {
                            for field in api.tokenFields { headers[field.rawValue] = try bearer.token() }
                        }
                        headers[VuDRMForm.tokenField.rawValue] = try stage.vuDRMToken(bearer)
                    }
                    let reply = try await stage.player(
                        path, method.rawValue, body: method == .post ? stage.spc(owner.name, owner) : nil,
                        at: tenant, bearer: bearer?.token(), headers: headers)
                    let cell: Comment =
                        "\(method) \(path) at \(tenant), token of \(bearer?.name ?? "nobody"): \(reply.status) \(reply.text.prefix(300))"
                    #expect(try stage.traces(of: owner.other, in: reply) == [], cell)
                    // DoveRunner refuses with 200.
                    let isRefused = reply.status >= 400 || reply.text.contains("errorCode")
                    if route.handler == .license, bearer != owner { #expect(isRefused, cell) }
                    if bearer == owner, Self.raw.contains(where: { (base + route.path.text).hasSuffix($0) }) {
                        #expect(reply.status == 200, cell)
                    }
                    cells.add()
                }
            }
        }
        #expect(cells.count >= 108 + 18 * VendorAPIKind.all.count(where: \.takesTenantTokens))
    }
}
