import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool

extension ConsoleInChromium {
    /// The console of people who sign in at Canaille, a third-party provider, entirely through its pages.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(if: CanailleProcess.isInstalled, "Canaille is not there; make engines fetches it"))
    struct BrowserSignOnTests {
        @Test(arguments: [(400, true), (1_600, false)])
        func `a user signs in at the provider's pages, sees the console's owner, and signs out of both`(
            width: Int, isDark: Bool
        ) async throws {
            try await Self.with { stage, provider in
                let page = try await stage.signInPage(width: width, isDark: isDark)
                #expect(try await page.accessibilityProblems() + page.contrastProblems() == [])
                try await page.value("location.hash = '#/keys'; document.querySelector('#provider').click()")
                try await page.signIn(as: "ada")
                try await page.waitThrough(until: "document.querySelector('h1')?.innerText === 'Keys'")
                let name = try await page.text("name")
                #expect(name.hasPrefix("Ada Example, operator of demo, at node "))
                #expect(try await page.value("document.documentElement.scrollWidth <= \(width)") == .flag(true))
                // No script of the page can read the session.
                #expect(try await page.value("document.cookie + JSON.stringify({ ...sessionStorage })").text == "{}")
                try await page.value("location.hash = '#/server'")
                try await page.wait(until: "document.querySelector('main').innerText.includes('the OpenID provider')")
                #expect(try await page.text("main").contains("admin:openID:ada"))
                let mayReload = "[...document.querySelectorAll('main button')].some(one => one.innerText === 'Reload')"
                #expect(try await page.value(mayReload) == .flag(false))
                #expect(try await page.accessibilityProblems() + page.contrastProblems() == [])
                // The provider's own files are its own.
                let console = stage.demonstration.server.addresses.operators.url
                #expect(page.errors.filter { $0.contains(console) || $0.contains("security policy") } == [])

                try await page.value("document.querySelector('#out').click()")
                // The provider decides where it is sent then.
                try await page.waitThrough(
                    until: "location.href.startsWith('\(provider.issuer)') || document.querySelector('#key')")
                let audit = try await stage.demonstration.server.shared.engines.audit.entries(from: 1, limit: 100)
                let events = audit.compactMap { JSONValue(Data($0.text.utf8)) }
                let seen = events.filter { $0["actor"]?.text == "admin:openID:ada" }.compactMap { $0["action"]?.text }
                #expect(seen == ["adminLogin", "adminLogout"])
            }
        }

        @Test func `a provider's user without a grant reads why, even with a new signing key`() async throws {
            try await Self.with { stage, provider in
                let other = try await stage.signInPage(width: 1_024, isDark: false)
                try await provider.rotate()
                try await other.value("document.querySelector('#provider').click()")
                try await other.signIn(as: "bob")
                try await other.waitThrough(until: "document.querySelector('h1')?.innerText === 'Not signed in'")
                #expect(try await other.text("main").contains("You have no role here"))
                #expect(try await other.accessibilityProblems() + other.contrastProblems() == [])
            }
        }

        /// Runs a test on a stage whose server knows the provider.
        private static func with(_ body: (BrowserStage, CanailleProcess) async throws -> Void) async throws {
            let stage = try await BrowserStage()
            let console = stage.demonstration.server.addresses.operators.url
            let folder = try TemporaryFolder()
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
            let provider = try await CanailleProcess(in: folder, console: console)
            try PrivateFile.write(Secret(CanailleProcess.clientSecret), to: stage.folder.file("demo/client-secret.txt"))
            let openID = """
                "openID": {"issuer": "\(provider.issuer)", "clientID": "latchkey", \
                "clientSecretFile": "client-secret.txt", "authorities": "\(folder.path("provider.pem"))", \
                "redirectBase": "\(console)", "scopes": ["profile", "groups"], \
                "grants": [{"value": "video-operators", "role": "operator", "tenants": ["demo"]}]},
                """
            try await stage.change("server.json", #""operators": {"#, to: #""operators": {\#(openID) "#)
            let result = await Result { try await body(stage, provider) }
            provider.stop()
            try result.get()
        }
    }
}

extension ChromiumPage {
    /// Fills in Canaille's pages: the name, then the password.
    fileprivate func signIn(as name: String) async throws {
        for (field, value) in [("login", name), ("password", CanailleProcess.password)] {
            let input = "document.querySelector('input[name=\(field)]')"
            try await waitThrough(until: input)
            try await self.value("\(input).value = '\(value)'; \(input).form.requestSubmit()")
        }
    }
}
