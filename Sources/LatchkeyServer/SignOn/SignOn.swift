import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing

/// Signs people in at an OpenID provider and out again, on the server: the browser gets a cookie that its scripts cannot read.
///
/// A sign-in is begun in the browser that ends it: state, nonce and the verifier of PKCE are in a cookie for ten minutes, signed with the
/// node's secret, and a state counts once. A session is a signed cookie, too, with the values of the claim; at each request the settings in
/// force map them to rights.
///
/// Source: `Documentation/Server/Operators.md`; OpenID Connect Core 1.0 §3.1; RFC 9700 §2.1 and §4.
struct SignOn: Sendable {
    let shared: ServerShared
    let state: @Sendable () -> ServerState
    /// Bounds the audit entries of refused sign-ins.
    let wrongKeys: WrongKeys

    enum Page { case begin, callback, out, ways }

    static let routes: [Route<Page>] = [
        Route([.get], "/sign-in", .ways), Route([.get], "/sign-in/openid", .begin),
        Route([.get], "/sign-in/callback", .callback), Route([.post], "/sign-in/out", .out),
    ]

    /// How long a sign-in may take.
    private static let flowLife = Duration.seconds(600)
    /// The header that a page of another origin cannot send without asking.
    static let header: HTTPHeaderName = "X-Latchkey-Console"

    private var signed: SignedText { shared.signedText }

    func answer(_ page: Page, _ request: HTTPRequest) async -> HTTPResponse {
        let state = state()
        do throws(SignOnRefusal) {
            switch page {
            case .ways: return ways(request, state)
            case .begin: return try await begin(state)
            case .callback: return try await callback(request, state)
            case .out: return try await out(request, state)
            }
        } catch {
            await note(error, request, state)
            return page == .out ? AdminRefusal(error).response : SignOnPage.refused(error)
        }
    }

    /// The ways to sign in, and whether a browser has a session.
    private func ways(_ request: HTTPRequest, _ state: ServerState) -> HTTPResponse {
        .admin(
            .object([
                "openID": .flag(state.openID != nil), "proxy": .flag(state.settings.operators.identityProxy != nil),
                "session": .flag(session(of: request, state) != nil),
            ]))
    }

    private func begin(_ state: ServerState) async throws(SignOnRefusal) -> HTTPResponse {
        guard let provider = state.openID else { throw .off }
        let (name, nonce, verifier) = (Self.random(), Self.random(), Self.random())
        guard let challenge = try? MessageDigest.sha256(Array(verifier.utf8)) else { throw .unsigned }
        let address = try await provider.authorization(
            state: name, nonce: nonce, challenge: Base64URL.text(challenge))
        let end = shared.timekeeper.date.addingTimeInterval(Self.flowLife.inSeconds)
        let members: [String: JSONValue] = [
            "state": .text(name), "nonce": .text(nonce), "verifier": .text(verifier),
            "issuer": .text(provider.settings.issuer),
        ]
        guard let flow = signed.text(members, for: .flow, until: end) else { throw .unsigned }
        var response = SignOnPage.redirect(to: address.absoluteString)
        // Lax, because the provider's page sends the browser back.
        response.headers.append("Set-Cookie", flowCookie(state).setting(flow, for: Self.flowLife, .lax))
        return response
    }

    private func callback(_ request: HTTPRequest, _ state: ServerState) async throws(SignOnRefusal) -> HTTPResponse {
        guard let provider = state.openID else { throw .off }
        let settings = provider.settings
        guard let cookie = flowCookie(state).value(in: request),
            let (flow, _) = signed.members(of: cookie, for: .flow, at: shared.timekeeper.date)
        else { throw .state("It may have taken longer than \(Self.flowLife.inWords).") }
        guard let name = flow["state"]?.text, let nonce = flow["nonce"]?.text, let verifier = flow["verifier"]?.text,
            flow["issuer"]?.text?.equalsByteForByte(settings.issuer) == true
        else { throw .state("The provider's settings have changed since then.") }
        let sent = try Self.items(request)
        guard sent["state"]?.equalsByteForByte(name) == true else {
            throw .state("Its state belongs to another sign-in.")
        }
        let document = try await provider.document()
        if document.statesIssuer || sent["iss"] != nil {
            guard sent["iss"]?.equalsByteForByte(settings.issuer) == true else {
                throw .provider("The reply is from another issuer.")
            }
        }
        if let error = sent["error"] { throw .declined(error) }
        guard let code = sent["code"], (1...2_048).contains(code.utf8.count) else { throw .state("It has no code.") }
        // Only an answer that could complete the sign-in ends it.
        guard await shared.oneTimeNames.spend(.signIn(name), for: Self.flowLife) else {
            throw .state("It was already completed.")
        }
        let person = try await provider.person(code: code, verifier: verifier, nonce: nonce)
        let values = person.values.filter { value in settings.grants.contains { $0.value.equalsByteForByte(value) } }
        guard
            let grant = settings.grants.first(where: { values.contains(where: $0.value.equalsByteForByte) })
        else {
            throw .unknown(person.subject, claim: settings.claim)
        }
        let end = shared.timekeeper.date.addingTimeInterval(settings.sessionLife.inSeconds)
        let members: [String: JSONValue] = [
            "id": .text(Self.random()), "subject": .text(person.subject), "name": .text(person.name),
            "values": .texts(values), "issuer": .text(settings.issuer), "client": .text(settings.clientID),
        ]
        guard let session = signed.text(members, for: .session, until: end) else { throw .tooLong }
        // While the audit is out of service, operators still have to look; its refusal is logged.
        try? await shared.audit(
            .adminLogin, of: "admin:\(Session.name(person.subject))", by: "admin:\(Session.name(person.subject))",
            tenant: grant.tenants.only,
            ["name": person.name, "issuer": settings.issuer, "role": grant.role.rawValue]
                .merging(grant.tenants.auditDetails) { $1 })
        var response = SignOnPage.redirect(to: "/")
        response.headers.append("Set-Cookie", sessionCookie(state).setting(session, for: settings.sessionLife, .strict))
        response.headers.append("Set-Cookie", flowCookie(state).clearing(.lax))
        return response
    }

    /// Ends a session on every node, and returns the provider's address for signing out.
    private func out(_ request: HTTPRequest, _ state: ServerState) async throws(SignOnRefusal) -> HTTPResponse {
        guard request.isOfConsole else { throw .state("The request was sent by another page.") }
        var next: String?
        if let provider = state.openID, let session = session(of: request, state) {
            let left = session.end.timeIntervalSince(shared.timekeeper.date)
            // A cookie that was kept fills no audit: a session is signed out once.
            if await shared.oneTimeNames.spend(.session(session.id), for: .seconds(left)) {
                // Belongs to the tenant, like the sign-in; to no tenant if the person has no role any more.
                let tenants = session.grant(of: provider.settings)?.tenants
                try? await shared.audit(
                    .adminLogout, of: "admin:\(session.name)", by: "admin:\(session.name)", tenant: tenants?.only,
                    ["name": session.shownName, "issuer": provider.settings.issuer]
                        .merging(tenants?.auditDetails ?? [:]) { $1 })
            }
            // Signed out here in any case.
            do { next = try await provider.signingOut()?.absoluteString } catch {
                shared.log.write(LogEntry(.admin, error, level: .warning))
            }
        }
        var response = HTTPResponse.admin(.members(["next": next.map { .text($0) }]))
        response.headers.append("Set-Cookie", sessionCookie(state).clearing(.strict))
        return response
    }

    /// The operator named by a request's cookie, by the settings in force; `nil` without a valid one.
    /// - Throws: `AdminRefusal` for one that a page of another origin sends along, and one that has no role any more.
    func person(of request: HTTPRequest, _ state: ServerState) async throws(AdminRefusal) -> Operator? {
        guard let provider = state.openID, let session = session(of: request, state) else { return nil }
        guard request.isOfConsole else { throw .crossSite }
        guard !(await shared.oneTimeNames.isSpent(.session(session.id))) else { return nil }
        guard let grant = session.grant(of: provider.settings) else { throw .noRole }
        return Operator(
            name: session.name, role: grant.role, tenants: grant.tenants, shownName: session.shownName,
            proof: .openID(until: session.end))
    }

    private func session(of request: HTTPRequest, _ state: ServerState) -> Session? {
        guard let settings = state.openID?.settings, let cookie = sessionCookie(state).value(in: request),
            let (members, end) = signed.members(of: cookie, for: .session, at: shared.timekeeper.date),
            members["issuer"]?.text?.equalsByteForByte(settings.issuer) == true,
            members["client"]?.text?.equalsByteForByte(settings.clientID) == true
        else { return nil }
        return Session(members, end)
    }

    /// Logs and audits a refused sign-in; audits it once a minute for each person and range of addresses.
    private func note(_ refusal: SignOnRefusal, _ request: HTTPRequest, _ state: ServerState) async {
        let address = state.proxies.clientAddress(of: request)
        var entry = LogEntry(.admin, refusal, level: .warning)
        entry.address = address
        shared.log.write(entry)
        let range = address.map { AddressCut.limits.range(of: $0).description } ?? "unknown"
        guard wrongKeys.note(refusal.subject.map { "subject:\($0)" } ?? "sign-in:\(range)").isForAudit else { return }
        let actor =
            refusal.subject.map { "admin:\(Session.name($0))" } ?? "address:\(address?.description ?? "unknown")"
        // A failed entry is logged.
        try? await shared.audit(.adminRefused, of: "admin", by: actor, ["code": refusal.code])
    }

    /// The items of a callback, each at most once.
    private static func items(_ request: HTTPRequest) throws(SignOnRefusal) -> [String: String] {
        var items: [String: String] = [:]
        for item in request.queryItems {
            guard items.updateValue(item.value ?? "", forKey: item.name) == nil else {
                throw .state("It repeats a parameter.")
            }
        }
        return items
    }

    /// 256 random bits as a text.
    private static func random() -> String { Base64URL.text(Secret.random(32).revealed) }

    private func flowCookie(_ state: ServerState) -> Cookie { Cookie("latchkey-sign-in", of: state) }
    private func sessionCookie(_ state: ServerState) -> Cookie { Cookie("latchkey-session", of: state) }

    /// The content of a session's cookie.
    private struct Session {
        let id, name, shownName: String
        let values: [String]
        let end: Date

        init?(_ members: JSONValue, _ end: Date) {
            guard let id = members["id"]?.text, let subject = members["subject"]?.text,
                let shownName = members["name"]?.text, case .array(let values)? = members["values"]
            else { return nil }
            (self.id, self.shownName, self.end) = (id, shownName, end)
            (name, self.values) = (Self.name(subject), values.compactMap(\.text))
        }

        /// The grant for the session's values by settings; `nil` for none.
        func grant(of settings: ServerSettings.OpenID) -> ServerSettings.Grant? {
            settings.grants.first { grant in values.contains(where: grant.value.equalsByteForByte) }
        }

        /// A name that no key of the configuration has.
        static func name(_ subject: String) -> String { "openID:\(subject.onOneLine)" }
    }
}

/// A cookie of the console.
private struct Cookie {
    enum Site: String { case lax = "Lax", strict = "Strict" }

    private let name: String
    private let isSecure: Bool

    /// - Parameter state: says whether browsers reach the console over TLS. Then the name's prefix ties it to this server.
    init(_ name: String, of state: ServerState) {
        isSecure = state.openID?.settings.redirectBase.hasPrefix("https:") ?? true
        self.name = isSecure ? "__Host-\(name)" : name
    }

    func setting(_ value: String, for life: Duration, _ site: Site) -> String {
        let secure = isSecure ? "; Secure" : ""
        return
            "\(name)=\(value); Path=/; Max-Age=\(Int(saturating: life.inSeconds)); HttpOnly; SameSite=\(site.rawValue)\(secure)"
    }

    func clearing(_ site: Site) -> String { setting("", for: .zero, site) }

    /// Its value; `nil` if it is absent or repeated.
    func value(in request: HTTPRequest) -> String? {
        let values = request.headers.values(of: "Cookie").flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return parts.count == 2 && parts[0] == name ? parts[1] : nil
        }
        return values.count == 1 ? values[0] : nil
    }
}

extension HTTPRequest {
    /// Whether one of the server's pages sent it: another page cannot send the header without asking, and is not allowed to.
    var isOfConsole: Bool {
        headers[SignOn.header] != nil && ["same-origin", nil].contains(headers["Sec-Fetch-Site"])
    }
}
