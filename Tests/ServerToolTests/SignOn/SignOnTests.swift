import Foundation
import Latchkey
import Testing

@testable import LatchkeyHTTP
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// Signing in at a provider that does it right.
@Suite(.timeLimit(.minutes(5))) struct SignOnTests {
    @Test func `a user signs in by the provider's claim, acts within role and tenants, and signs out`() async throws {
        let stage = try await SignOnStage()
        let browser = stage.browser()
        let (back, sent) = try await browser.begin()
        let flow = try #require(sent.status == 302 ? back : nil)
        let reply = try await browser.ask(flow)
        #expect(reply.status == 303 && reply.header("Location") == "/")
        let cookie = try #require(reply.headers.first { $0.value.hasPrefix("__Host-latchkey-session=") }?.value)
        for attribute in ["; Path=/", "; HttpOnly", "; SameSite=Strict", "; Secure", "; Max-Age=28800"] {
            #expect(cookie.contains(attribute))
        }
        #expect(!cookie.contains("Domain"))
        #expect(browser.jar.keys.sorted() == ["__Host-latchkey-session"])
        let me = try #require(JSONValue(try await browser.admin("me").body))
        #expect(me["name"]?.text == "openID:ada-1" && me["shownName"]?.text == "Ada <b>Example</b>")
        #expect(me["role"]?.text == "operator" && me["proof"]?.text == "openID")
        #expect(me["tenants"] == .array([.text("demo")]) && me["allTenants"] == .flag(false))
        #expect(try await browser.admin("tenants/demo/keys").status == 200)
        #expect(try await browser.admin("tenants/demo/seed", "POST").status == 403)
        #expect(try await browser.admin("reload", "POST").status == 403)
        #expect(try await stage.audit() == ["adminLogin admin:openID:ada-1"])

        let kept = browser.jar
        let out = try await browser.ask("/sign-in/out", "POST", headers: ["X-Latchkey-Console": "1"])
        let next = try #require(JSONValue(out.body)?["next"]?.text)
        #expect(next.hasPrefix("\(stage.provider.issuer)/out?from=document&client_id=latchkey&"))
        #expect(next.hasSuffix("post_logout_redirect_uri=https%3A%2F%2Fconsole.example%2F"))
        #expect(browser.jar.isEmpty)
        // A copy of the cookie is worth nothing any more.
        browser.jar = kept
        #expect(try await browser.admin("me").status == 401)
        // Nor does it fill the audit.
        for _ in 0..<2 {
            browser.jar = kept
            let again = try await browser.ask("/sign-in/out", "POST", headers: ["X-Latchkey-Console": "1"])
            #expect(again.status == 200)
        }
        #expect(try await stage.audit() == ["adminLogin admin:openID:ada-1", "adminLogout admin:openID:ada-1"])
        // Both are the tenant's, so that its operators see them.
        let entries = try await stage.server.shared.engines.audit.entries(from: 1, limit: 1_000).map(\.text)
        for action in ["adminLogin", "adminLogout"] {
            let entry = try #require(entries.first { $0.contains(#""\#(action)""#) })
            #expect(JSONValue(Data(entry.utf8))?["tenant"]?.text == "demo", "\(entry)")
        }
    }

    @Test func `another page of the browser cannot use the session`() async throws {
        let stage = try await SignOnStage()
        let browser = stage.browser()
        #expect(try await browser.signIn().status == 303)
        for headers in [[:], ["X-Latchkey-Console": "1", "Sec-Fetch-Site": "cross-site"]] {
            #expect(try await browser.admin("me", headers: headers).status == 403)
            #expect(try await browser.ask("/sign-in/out", "POST", headers: headers).status == 400)
        }
        let asked = try await browser.ask(
            "/admin/v1/me", "OPTIONS",
            headers: [
                "Origin": "https://evil.example", "Access-Control-Request-Headers": "x-latchkey-console",
                "Access-Control-Request-Method": "GET",
            ])
        #expect(asked.status == 405 && asked.header("Access-Control-Allow-Origin") == nil)
        #expect(try await browser.admin("me").status == 200)
    }

    @Test func `a user without a grant is refused by name, and audited once a minute`() async throws {
        let stage = try await SignOnStage()
        stage.provider.groups = ["everybody"]
        for _ in 0..<2 {
            let reply = try await stage.browser().signIn()
            #expect(reply.status == 403)
            #expect(reply.text.contains("You have no role here: no value of “groups”"))
        }
        #expect(try await stage.audit() == ["adminRefused admin:openID:ada-1 signOnUnknown"])
    }

    @Test func `the first matching grant counts, and later settings apply to open sessions`()
        async throws
    {
        let grants = #"[{"value":"auditors"},{"value":"video-operators","role":"security","tenants":["demo"]}]"#
        let stage = try await SignOnStage(["grants": grants])
        stage.provider.groups = ["video-operators", "auditors"]
        let browser = stage.browser()
        #expect(try await browser.signIn().status == 303)
        func me() async throws -> String {
            let reply = try await browser.admin("me")
            guard let me = JSONValue(reply.body), reply.status == 200 else { return "\(reply.status)" }
            return "\(me["role"]?.text ?? "") \(me["allTenants"] == .flag(true))"
        }
        #expect(try await me() == "viewer true")
        try await stage.stage.reload(["operators.openID.grants.0": nil])
        #expect(try await me() == "security false")
        try await stage.stage.reload(["operators.openID.grants.0.value": "nobody"])
        #expect(try await me() == "403")
    }

    @Test func `a session ends on time, and a restart does not end it`() async throws {
        let stage = try await SignOnStage(["sessionLife": #""10m""#])
        let browser = stage.browser()
        #expect(try await browser.signIn().status == 303)
        let other = try await TestServer(stage.stage.folder, time: stage.time)
        let elsewhere = SignOnBrowser(other.server.addresses.operators.url, base: SignOnStage.base, CurlTransport())
        elsewhere.jar = browser.jar
        let reply = try await elsewhere.admin("me")
        #expect(reply.status == 200)
        stage.time.advance(by: .seconds(598))
        #expect(try await browser.admin("me").status == 200)
        stage.time.advance(by: .seconds(3))
        #expect(try await browser.admin("me").status == 401)
    }

    @Test func `while the provider is down sessions and keys work, and the sign-in says so`() async throws {
        let stage = try await SignOnStage()
        let browser = stage.browser()
        #expect(try await browser.signIn().status == 303)
        stage.provider.isAway = true
        stage.time.advance(by: .seconds(11))
        let reply = try await stage.browser().signIn()
        #expect(reply.status == 503)
        #expect(reply.text.contains("Existing sessions and operators' keys still work"))
        let byKey = try await stage.stage.admin("me")
        #expect(byKey.status == 200)
        #expect(try await browser.admin("overview").status == 200)
        let told = try await stage.stage.admin("overview")
        #expect(told.text.contains(Self.notice))
        // It is signed out here, whatever the provider does.
        let out = try await browser.ask("/sign-in/out", "POST", headers: ["X-Latchkey-Console": "1"])
        #expect(out.status == 200 && JSONValue(out.body)?["next"] == nil)
        stage.provider.isAway = false
        #expect(try await stage.browser().signIn().status == 303)
        let overview = try await stage.stage.admin("overview")
        #expect(!overview.text.contains(Self.notice))
    }

    private static let notice = "The OpenID provider signs no operators in."

    /// The text of the console's first page.
    private func overview(_ stage: SignOnStage) async throws -> String {
        try await stage.stage.admin("overview").text
    }

    @Test(arguments: [
        (StandInProvider.Fault.keySetIsGone, "The OpenID provider cannot be reached. "),
        (.tokenFails, "The OpenID provider's reply was rejected. Its token endpoint responded with status 500."),
        (.hugeToken, "The OpenID provider cannot be reached. "),
    ]) func `a silent provider endpoint is on the first page until it answers, whatever others do`(
        _ fault: StandInProvider.Fault, _ words: String
    ) async throws {
        let stage = try await SignOnStage()
        stage.provider.fault = fault
        let refused = try await stage.browser().signIn()
        #expect(refused.status >= 500)
        #expect(try await overview(stage).contains(Self.notice))
        #expect(try await overview(stage).contains(words))
        stage.time.advance(by: .seconds(11))
        // The document is asked again, and answers.
        #expect(try await stage.browser().begin().back != nil)
        #expect(try await overview(stage).contains(Self.notice))
        stage.provider.fault = .none
        #expect(try await stage.browser().signIn().status == 303)
        #expect(try await overview(stage).contains(Self.notice) == false)
    }

    @Test func `a code the provider declines causes no notice`() async throws {
        let stage = try await SignOnStage()
        let browser = stage.browser()
        let back = try #require(try await browser.begin().back)
        let reply = try await browser.ask(back.replacing("code=code-0", with: "code=guessed"))
        #expect(reply.text.contains("<code>signOnDeclined</code>"))
        #expect(try await overview(stage).contains(Self.notice) == false)
    }

    @Test func `the provider is checked even without sign-ins, and its answers set or clear the notice`()
        async throws
    {
        let stage = try await SignOnStage()
        let upkeep = Task { await stage.server.watchProvider() }
        await stage.time.untilSomeoneSleeps(for: .seconds(20))
        #expect(Set(stage.provider.requests) == ["/.well-known/openid-configuration", "/keys"])
        let sound = try await overview(stage)
        #expect(!sound.contains(Self.notice))
        stage.provider.isAway = true
        for _ in 0..<2 {
            stage.time.advance(by: .seconds(20))
            await stage.time.untilSomeoneSleeps(for: .seconds(20))
            #expect(try await overview(stage).contains(Self.notice))
        }
        stage.provider.isAway = false
        stage.time.advance(by: .seconds(20))
        await stage.time.untilSomeoneSleeps(for: .seconds(20))
        #expect(try await overview(stage).contains(Self.notice) == false)
        upkeep.cancel()
        await upkeep.value
        await stage.stage.stop()
        let log = await stage.stage.lines(#""event":"outage""#).map { $0.contains(" signs operators in again.") }
        #expect(log == [false, true], "The log has one entry for each.")
    }

    @Test func `the server ends an outage of the token endpoint without a sign-in`() async throws {
        let stage = try await SignOnStage()
        stage.provider.fault = .tokenFails
        _ = try await stage.browser().signIn()
        #expect(try await overview(stage).contains(Self.notice))
        stage.provider.fault = .none
        let upkeep = Task { await stage.server.watchProvider() }
        await stage.time.untilSomeoneSleeps(for: .seconds(20))
        #expect(try await overview(stage).contains(Self.notice) == false)
        upkeep.cancel()
        await upkeep.value
    }

    @Test func `a check asks each endpoint of the provider, and reports a missing answer`() async throws {
        let stage = try await SignOnStage()
        let path = stage.stage.folder.configuration
        let sound = try await ServerCheck(path, derivation: nil).problems.problems
        #expect(sound.isEmpty, "\(sound)")
        #expect(stage.provider.requests.contains("/keys"))
        for fault in [StandInProvider.Fault.documentIsGone, .keySetIsGone, .tokenFails] {
            stage.provider.fault = fault
            let away = try await ServerCheck(path, derivation: nil).problems.problems
            #expect(away.map(\.place) == ["operators.openID"], "\(away)")
        }
    }

    @Test func `a provider's new signing key is accepted, and its keys are fetched once`() async throws {
        let stage = try await SignOnStage()
        #expect(try await stage.browser().signIn().status == 303)
        try stage.provider.rotate()
        #expect(try await stage.browser().signIn().status == 303)
        #expect(stage.provider.requests.count { $0 == "/keys" } == 2)
    }

    /// A member with another value, and the end of a sign-in then.
    private static let members: [(String, String, String)] = [
        ("issuer", #""https://localhost:1""#, "signOnAway"), ("clientID", #""another""#, "no good request"),
        // The stand-in requires the secret.
        ("clientSecretFile", "", "signOnDeclined"), ("claim", #""roles""#, "signOnUnknown"),
        ("algorithms", #"["RS256"]"#, "signOnAway"), ("grants", "[]", "signOnUnknown"),
        ("scopes", #"["email"]"#, "scope=openid%20email&"),
        ("redirectBase", #""https://elsewhere.example""#, "redirect_uri=https%3A%2F%2Felsewhere.example%2Fsign-in"),
    ]

    @Test(arguments: members)
    func `each member of openID has an effect`(_ name: String, _ json: String, _ words: String) async throws {
        func signIn(_ members: [String: String]) async throws -> String {
            let seen = Locked("")
            let stage = try await SignOnStage(members)
            let browser = stage.browser()
            let begun = try await browser.ask("/sign-in/openid")
            let there = begun.header("Location") ?? ""
            let sent = there.isEmpty ? begun : try await browser.ask(there)
            let back = sent.header("Location") ?? ""
            let last = back.hasPrefix(SignOnStage.base) ? try await browser.ask(back) : sent
            seen.withLock { $0 = "\(there) \(last.status) \(last.text)" }
            return seen.withLock { $0 }
        }
        let usual = try await signIn([:])
        #expect(usual.contains(" 303 ") && !usual.contains(words))
        let other = try await signIn([name: json])
        #expect(other.contains(words), "\(other)")
    }

    @Test func `a server starts while its provider is down, but not with a secret open to others`() async throws {
        let stage = try await SignOnStage()
        let file = stage.stage.folder.file("client-secret.txt")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        await #expect(throws: ServerProblems.self) { try await stage.server.reload() }
        stage.provider.isAway = true
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        try await stage.server.reload()
    }
}
