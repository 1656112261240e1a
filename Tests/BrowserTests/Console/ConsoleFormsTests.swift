import Foundation
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault

extension ConsoleInChromium {
    /// Policies, keys and accounts, as an operator fills in their forms.
    @Suite(.timeLimit(.minutes(10))) struct ConsoleFormsTests {
        private static let main = "document.querySelector('main').innerText.replaceAll(/\\s+/g, ' ')"
        private static let policy = "document.querySelector('#policy')"

        /// The error at a field.
        private static func error(_ place: String) -> String {
            "document.querySelector('[data-place=\"\(place)\"]').lastElementChild.innerText"
        }

        @Test func `a policy's problems are shown at their fields, and its JSON takes what no field has`() async throws
        {
            let stage = try await BrowserStage()
            try await stage.ask(1, from: 1, refusing: 0)
            let page = try await stage.console(width: 400)
            let decisions = stage.demonstration.server.shared.decisions
            let id = try #require(decisions.latest(limit: 1, before: nil) { _ in true }.first?.record.requestID)
            try await page.value("location.hash = '#/decisions?id=\(id)'")
            try await page.wait(until: Self.policy)

            try await page.set("concurrency.limit", "500")
            try await page.set("concurrency.perClass.UHD", "none")
            try await page.set("place.deny", "Germany")
            try await page.value("\(Self.policy).form.requestSubmit()")
            try await page.wait(until: "\(Self.error("concurrency.limit")).includes('from 1 to 100')")
            #expect(try await page.value(Self.error("concurrency.perClass")).text?.contains("1 to 100") == true)
            #expect(try await page.value(Self.error("place.deny")).text?.contains("two capital letters") == true)
            #expect(try await page.value("document.activeElement.name").text == "concurrency.limit")
            #expect(try await page.value("document.querySelectorAll('[aria-invalid]').length").number == 3)

            try await page.set("concurrency.limit", "2")
            try await page.set("concurrency.perClass.UHD", "")
            try await page.set("place.deny", "")
            try await page.value("\(Self.policy).form.requestSubmit()")
            try await page.wait(until: "\(Self.main).includes('No change: license.')")
            #expect(try await page.value("document.querySelectorAll('[aria-invalid]').length").number == 0)
            let stated =
                "JSON.stringify([JSON.parse(\(Self.policy).value)].map(one => [one.concurrency.limit, 'place' in one]))"
            #expect(try await page.value(stated).text == "[[2,false]]")

            try await page.set("json", #"{"version":1,"concurrency":{"limit":7},"more":1}"#)
            #expect(try await page.value("document.querySelector('[name=\"concurrency.limit\"]').value").text == "7")
            for (text, words) in [(nil, "more: There is no such member."), ("{", "This is not JSON from line 1")] {
                if let text { try await page.set("json", text) }
                try await page.value("\(Self.policy).form.requestSubmit()")
                try await page.wait(until: "document.querySelector('.problems').innerText.includes('\(words)')")
            }
        }

        @Test func `a key is created by the keyboard alone, and its value is not shown`() async throws {
            let stage = try await BrowserStage()
            let page = try await stage.console()
            try await page.value("location.hash = '#/keys'")
            let summary = "[...document.querySelectorAll('summary')].find(one => one.innerText === 'New key')"
            try await page.wait(until: summary)
            try await page.value("\(summary).focus()")
            for key in ["Enter", "Tab"] { try await page.press(key) }
            try await page.type("film-new")
            for _ in 0..<2 { try await page.press("Tab") }
            try await page.type("0102")
            try await page.press("Enter")
            try await page.wait(until: "\(Self.error("key")).includes('32 hexadecimal digits')")
            #expect(try await page.value("document.activeElement.name").text == "key")
            try await page.type("030405060708090a0b0c0d0e0f10")
            try await page.press("Enter")
            try await page.wait(until: "document.querySelector('dialog[open]')")
            #expect(
                try await page.value("document.querySelector('dialog').innerText").text?.contains("keyImported") == true
            )
            for key in ["Tab", "Enter"] { try await page.press(key) }
            try await page.wait(until: "document.querySelector('#status').innerText === 'The key is created.'")
            let keys = stage.demonstration.server.shared.engines.keys
            let rows = try await keys.page(of: "demo", search: "film-new", after: nil, limit: 2)
            #expect(rows.map(\.scheme) == [.cbcs])
            #expect(try await page.value("document.documentElement.innerText.includes('0f10')") == .flag(false))
            #expect(try await page.value("document.querySelector('[name=key]').value").text == "")

            // An existing key is a problem of the identifier.
            try await page.set("content", "film-new")
            try await page.set("kid", "\(try #require(rows.first).kid)")
            try await page.value("document.querySelector('[name=content]').form.requestSubmit()")
            try await page.wait(until: "document.querySelector('dialog[open]')")
            try await page.value("document.querySelector('dialog button.danger').click()")
            try await page.wait(until: "\(Self.error("kid")).includes('already')")
            #expect(page.errors.allSatisfy { $0.contains("409") })
        }

        @Test func `an account's page shows its requests, and blocks and unblocks it`() async throws {
            let stage = try await BrowserStage()
            try await stage.ask(2, from: 7, refusing: 0)
            let page = try await stage.console(width: 400)
            try await page.value("location.hash = '#/accounts?account=viewer-7'")
            try await page.wait(until: "\(Self.main).includes('This server keeps no record')")
            let text = try await page.value(Self.main).text ?? ""
            #expect(text.contains("license demo") && !text.contains("viewer-8"), "\(text)")

            let form = "document.querySelector('[name=reason]').form"
            try await page.value("\(form).requestSubmit()")
            try await page.wait(until: "\(Self.error("reason")).includes('is not a text')")
            #expect(try await page.value("document.activeElement.name").text == "reason")
            try await page.set("reason", "stolen")
            try await page.value("\(form).requestSubmit()")
            try await page.wait(until: "document.querySelector('dialog[open]')?.innerText.includes('blockSet')")
            try await page.value("document.querySelector('dialog button.danger').click()")
            try await page.wait(until: "/Blocked by demo since .*: stolen/.test(\(Self.main))")
            let blocks = stage.demonstration.server.shared.engines.keys.blockList
            #expect(blocks.snapshot.blocks.map(\.subject.name) == ["viewer-7"])
            try await page.value(
                "[...document.querySelectorAll('button')].find(one => one.innerText === 'Unblock the account').click()")
            try await page.wait(until: "document.querySelector('dialog[open]')?.innerText.includes('blockLifted')")
            try await page.value("document.querySelector('dialog button.danger').click()")
            try await page.wait(until: "\(Self.main).includes('State not blocked')")
            #expect(blocks.snapshot.blocks.isEmpty)
            #expect(page.errors.allSatisfy { $0.contains("400") || $0.contains("404") }, "\(page.errors)")
        }

        @Test func `an account is erased only after its name was typed, and the page says what is kept`() async throws {
            let stage = try await BrowserStage()
            let page = try await stage.console()
            // As the server answers: the effect, the audit's entry, and the result.
            try await page.value(
                """
                window.asked = []; window.real = window.fetch;
                window.fetch = async (address, options = {}) => {
                  if (!/account(\\/erasure)?\\?name=viewer-7$/.test(address) || options.method === undefined && !address.includes('erasure')) {
                    return window.real(address, options);
                  }
                  const isDry = Boolean(options.headers['X-Latchkey-Dry-Run']);
                  window.asked.push(`${options.method ?? 'GET'}${isDry ? ' dry' : ''}`);
                  return Response.json(isDry ? { entry: { actor: 'admin:demo', action: 'accountErased', object: 'demo', details: {} } }
                    : { places: [{ place: 'audit', erased: 0, kept: 3, why: 'The chain keeps them.' }] });
                };
                location.hash = '#/accounts?account=viewer-7';
                """)
            let summary = "[...document.querySelectorAll('summary')].find(one => one.innerText === 'Erase the account')"
            try await page.wait(until: summary)
            try await page.value("\(summary).click()")
            try await page.wait(until: "\(Self.main).includes('audit 0 3 The chain keeps them.')")
            let form = "document.querySelector('[name=typed]').form"
            try await page.set("typed", "viewer-8")
            try await page.value("\(form).requestSubmit()")
            try await page.wait(until: "\(Self.error("typed")).includes('not the account')")
            try await page.set("typed", "viewer-7")
            try await page.value("\(form).requestSubmit()")
            try await page.wait(until: "document.querySelector('dialog[open]')?.innerText.includes('accountErased')")
            #expect(try await page.value("window.asked.join()").text == "GET,DELETE dry")
            try await page.value("document.querySelector('dialog button.danger').click()")
            try await page.wait(until: "document.querySelector('#status').innerText === 'The account is erased.'")
            #expect(try await page.value("window.asked.join()").text == "GET,DELETE dry,DELETE")
        }

        @Test(arguments: [(400, true), (400, false), (1_600, true), (1_600, false)])
        func `forms fit the window, and all their fields have names`(_ width: Int, _ isDark: Bool) async throws {
            let stage = try await BrowserStage()
            try await stage.ask(1, from: 1, refusing: 0)
            let page = try await stage.console(width: width, isDark: isDark)
            for (place, isThere) in [
                ("keys", "document.querySelector('[name=kid]')"),
                ("accounts?account=viewer-1", "document.querySelector('[name=reason]')"),
                ("policies", "document.querySelector('td button')"),
            ] {
                try await page.value("location.hash = '#/\(place)'")
                try await page.wait(until: isThere)
                if place == "policies" {
                    try await page.value("document.querySelector('td button').click()")
                    try await page.wait(until: Self.policy)
                }
                try await page.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
                #expect(
                    try await page.value("document.documentElement.scrollWidth <= \(width)") == .flag(true), "\(place)")
                let problems = try await page.accessibilityProblems() + page.contrastProblems()
                #expect(problems == [], "\(place)")
            }
        }
    }
}

extension ChromiumPage {
    /// Fills in a form's field, as typing does.
    fileprivate func set(_ name: String, _ text: String) async throws {
        try await value(
            """
            (() => {
              const field = document.querySelector('[name="\(name)"]');
              field.value = '\(text)';
              field.dispatchEvent(new Event('input', { bubbles: true }));
            })()
            """)
    }

    /// Types into the field that has the focus.
    fileprivate func type(_ text: String) async throws { try await send("Input.insertText", ["text": .text(text)]) }
}
