import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyTesting
import Testing

@testable import LatchkeyForms
@testable import LatchkeyServer
@testable import LatchkeyServerTool

#if canImport(FoundationNetworking)
    import FoundationNetworking
    @testable import LatchkeyLicensing
    @testable import LatchkeyDecision
    @testable import LatchkeyVault
#endif

extension ConsoleInChromium {
    /// The operators' console while licenses are asked for.
    @Suite(.timeLimit(.minutes(10))) struct BrowserConsoleTests {
        @Test func `the console shows the server's figures under load`() async throws {
            let stage = try await BrowserStage()
            let page = try await stage.console()
            for batch in 0..<3 { try await stage.ask(50, from: batch * 50, refusing: 5) }
            let legend = "document.querySelector('.legend')?.innerText.replaceAll(/\\s+/g, ' ')"
            try await page.wait(until: "\(legend)?.includes('granted 135 ') && \(legend)?.includes('refused 15 ')")
            let shown = try await page.value(legend).text ?? ""
            #expect(shown == "granted 135 acknowledged 0 refused 15 failed 0 shed 0")
            #expect(try await stage.metrics() == ["granted": 135, "refused": 15])
            #expect(page.errors == [])
        }

        @Test func `a key is replaced and removed only after a confirmation`() async throws {
            let stage = try await BrowserStage()
            let keys = stage.demonstration.server.shared.engines.keys
            let row = try #require(try await keys.page(of: "demo", search: "", after: nil, limit: 1).first)
            let document = """
                <cpix:CPIX xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" \
                contentId="\(row.content)" version="2.3"><cpix:ContentKeyList><cpix:ContentKey kid="\(row.kid)" \
                explicitIV="AwMDAwMDAwMDAwMDAwMDAw=="><cpix:Data><pskc:Secret><pskc:PlainValue>AgICAgICAgICAgICAgICAg==\
                </pskc:PlainValue></pskc:Secret></cpix:Data></cpix:ContentKey></cpix:ContentKeyList></cpix:CPIX>
                """
            let page = try await stage.console()
            try await page.value(
                """
                window.asked = [];
                window.answer = async says => {
                  while (!document.querySelector('dialog[open]')) await new Promise(done => setTimeout(done, 10));
                  const dialog = document.querySelector('dialog[open]');
                  window.asked.push(dialog.innerText);
                  dialog.querySelector(`button[value=${says}]`).click();
                  while (dialog.isConnected) await new Promise(done => setTimeout(done, 10));
                };
                window.button = name => [...document.querySelectorAll('main button')].find(one => one.innerText === name);
                location.hash = '#/keys';
                """)
            try await page.wait(until: "window.button('\(row.kid)')")
            try await page.value("window.button('\(row.kid)').click()")
            try await page.wait(until: "document.querySelector('#cpix')")
            // Its facts and its policy are in tables.
            let captions = try await page.value(
                "[...document.querySelectorAll('caption')].map(one => one.innerText).join()"
            ).text
            #expect(captions?.contains("Details") == true && captions?.contains("Rules") == true)
            let open = "document.querySelectorAll('main details').forEach(one => { one.open = true; })"
            try await page.value(
                "\(open); document.querySelector('#cpix').value = `\(document)`"
            )
            for name in ["Replace", "Remove"] {
                try await page.value("window.button('\(name)').click(); window.answer('no')")
            }
            #expect(try await page.value("window.asked.length").number == 2)
            let named = "window.asked.filter(text => text.includes('\(row.kid)')).length"
            #expect(try await page.value(named).number == 2)
            #expect(try await keys.rows([row.kid], of: "demo") == [row])

            try await page.value("window.button('Replace').click(); window.answer('yes')")
            try await page.wait(until: "document.querySelector('#status').innerText === 'The key is replaced.'")
            let replaced = try #require(try await keys.rows([row.kid], of: "demo").first)
            #expect(replaced.sealed != row.sealed)
            try await page.value("\(open); window.button('Remove').click(); window.answer('yes')")
            try await page.wait(until: "document.querySelector('#status').innerText === 'The key is removed.'")
            #expect(try await keys.rows([row.kid], of: "demo") == [])
            #expect(page.errors == [])
        }

        @Test
        func `a wrong key is reported next to the form, and an explained request shows who, what and where`()
            async throws
        {
            let stage = try await BrowserStage()
            try await stage.ask(3, from: 1, refusing: 2)
            let page = try await stage.console()
            try await page.value("document.querySelector('#out').click()")
            try await page.wait(until: "document.querySelector('#key')")
            try await page.value(
                "document.querySelector('#key').value = 'guessed'; document.querySelector('form').requestSubmit()")
            try await page.wait(
                until: "document.querySelector('#wrong')?.innerText.startsWith('This is not an operator')")
            #expect(try await page.value("document.activeElement.id").text == "key")

            let key = String(decoding: stage.folder.contents("demo/admin-key.txt") ?? Data(), as: UTF8.self)
            try await page.signIn(key.trimmingCharacters(in: .whitespacesAndNewlines))
            let main = "document.querySelector('main').innerText.replaceAll(/\\s+/g, ' ')"
            // The refusals that are alike are in one row, by the code from the table next to it.
            try await page.wait(
                until: "(\(main).match(/tokenForm/g) ?? []).length > 1 && !\(main).includes('tokenRefused')")
            let node = stage.demonstration.server.shared.node
            let license = try #require(
                stage.demonstration.server.shared.decisions.latest(limit: 1, before: nil) { _ in true }.first)
            let id = try #require(license.record.requestID)
            try await page.value("location.hash = '#/decisions?id=\(id)'")
            try await page.wait(until: "\(main).includes('Request \(id)')")
            let text = try await page.value(main).text ?? ""
            for words in ["Account viewer-", "Content ", "Node \(node)", "Tenant demo"] {
                #expect(text.contains(words), "\(words)")
            }
            #expect(page.errors.allSatisfy { $0.contains("401") })
        }

        @Test func `all sessions of an account are stopped, and the audit is searched for who did it`()
            async throws
        {
            let stage = try await BrowserStage()
            for _ in 0..<2 { try await stage.ask(1, from: 7, refusing: 0) }
            let page = try await stage.console(width: 400)
            try await page.value(
                """
                window.button = name => [...document.querySelectorAll('main button')].find(one => one.innerText === name);
                location.hash = '#/accounts?account=viewer-7';
                """)
            let isShown = "document.querySelectorAll('.danger').length >= 3 && window.button('Stop all')"
            try await page.wait(until: isShown)
            try await page.value("window.button('Stop all').click()")
            try await page.wait(until: "document.querySelector('dialog[open]')")
            // Another page closes the dialog, and nothing is stopped.
            try await page.value("location.hash = '#/audit'")
            try await page.wait(until: "document.querySelector('[name=did]') && !document.querySelector('dialog')")
            #expect(
                try await stage.demonstration.server.shared.accounts.account("viewer-7", of: "demo").slots.count == 2)
            try await page.value("location.hash = '#/accounts?account=viewer-7'")
            try await page.wait(until: isShown)
            try await page.value("window.button('Stop all').click()")
            try await page.wait(until: "document.querySelector('dialog[open]')")
            let asked = try await page.value("document.querySelector('dialog').innerText").text ?? ""
            for words in ["Stop all sessions of viewer-7?", "sessionStopped", "demo/viewer-7"] {
                #expect(asked.contains(words), "\(asked)")
            }
            try await page.value("document.querySelector('dialog button.danger').click()")
            try await page.wait(until: "document.querySelector('main').innerText.includes('Sessions: nothing here.')")
            let account = try await stage.demonstration.server.shared.accounts.account("viewer-7", of: "demo")
            #expect(account.slots == [] && account.stopped.count == 2)

            try await page.value("location.hash = '#/audit'")
            try await page.wait(
                until: "document.querySelector('[name=did]') && document.querySelectorAll('tbody tr').length > 1")
            let day = "new Date().toISOString().slice(0, 10)"
            let rows = "document.querySelectorAll('tbody tr').length"
            try await page.value(
                """
                document.querySelector('[name=who]').value = 'DEMO'; document.querySelector('[name=did]').value = 'sessionStopped';
                document.querySelector('[name=since]').value = \(day); document.querySelector('[name=until]').value = \(day);
                document.querySelector('form.bar').requestSubmit();
                """)
            try await page.wait(
                until: "\(rows) === 1 && document.querySelector('main').innerText.includes('session: all')")
            try await page.value(
                "document.querySelector('[name=until]').value = '2000-01-01'; document.querySelector('form.bar').requestSubmit()"
            )
            try await page.wait(until: "document.querySelector('main').innerText.includes('nothing here')")
            #expect(try await page.value("document.documentElement.scrollWidth <= 400") == .flag(true))
            // The demonstration keeps no record.
            #expect(page.errors.allSatisfy { $0.contains("404") })
        }

        @Test(arguments: ["decisions", "accounts"])
        func `a list of fifty rows is a few screens of a narrow window`(_ list: String) async throws {
            let stage = try await BrowserStage()
            try await stage.ask(50, from: 1, refusing: 0)
            let page = try await stage.console(width: 400)
            try await page.value("location.hash = '#/\(list)'")
            try await page.wait(until: "document.querySelectorAll('tbody tr').length >= 50")
            let height = try await page.value("document.documentElement.scrollHeight").number ?? .infinity
            #expect(height < 6_500)
            #expect(try await page.value("document.documentElement.scrollWidth <= 400") == .flag(true))
            #expect(try await page.accessibilityProblems() + page.contrastProblems() == [])
        }

        @Test func `a page holds no more after four minutes of events than after two`()
            async throws
        {
            let (batches, more) = AsyncStream<Int>.makeStream()
            let front = HTTPServer { request in Self.console(request, batches) }
            let port = try front.start()
            let page = try await Chromium().open("http://127.0.0.1:\(port)/")
            try await page.signIn("key")
            var memories: [PageMemory] = []
            for batch in 1...8 {
                more.yield(batch)
                try await page.wait(
                    until: "document.querySelector('.legend')?.innerText.includes('\((batch * 30).shown)')")
                memories.append(try await PageMemory(of: page))
            }
            let (first, last) = (memories[3], memories[7])
            #expect(last.nodes <= first.nodes * 1.05, "\(memories)")
            // A tenth for the memory of the stream's last piece.
            #expect(last.heap <= first.heap * 1.1 + 200_000, "\(memories)")
            await page.close()
            more.finish()
            await front.stop(within: .zero)
        }

        /// The console's files, with events as fast as they are read: half a minute of them, 20 refusals each second, for each batch.
        private static func console(_ request: HTTPRequest, _ batches: AsyncStream<Int>) -> HTTPResponse {
            switch request.path {
            case "/admin/v1/sign-in":
                return .admin(
                    .object([
                        "name": .text("a"), "role": .text("viewer"), "tenants": .texts(["demo"]), "version": .text("1"),
                    ]))
            case "/admin/v1/refusals": return .admin(.object(["refusals": .array([])]))
            case "/admin/v1/events":
                let body = HTTPBodyStream { body in
                    for await batch in batches {
                        for second in ((batch - 1) * 30)..<(batch * 30) {
                            for event in events(of: second + 1) { guard await body.write(event) else { return } }
                        }
                    }
                }
                return HTTPResponse(status: 200, headers: [.contentType: "text/event-stream"], body: .stream(body))
            default: return ConsoleFile.response(String(request.path.dropFirst()))
            }
        }

        private static func events(of second: Int) -> [Data] {
            let refusals = (1...20).map { number in
                let id = (second * 20 + number)
                return
                    #"event: refusal\#ndata: {"number":\#(id),"time":"2026-11-22T00:00:00Z","tenant":"demo","code":"blocked","#
                    + #""reason":"The user is blocked.","requestId":"request-\#(id)"}\#n\#n"#
            }
            let seconds = (0..<59).map { #"{"number":\#(second + $0),"granted":50,"refused":20}"# }.joined(
                separator: ",")
            let overview =
                #"event: overview\#ndata: {"draining":false,"notices":[],"seconds":[\#(seconds)],"totals":{"granted":\#(second)},"#
                + #""reasons":{"blocked":\#(second)},"times":[[0.01,\#(second)],[null,\#(second)]],"sessions":{"demo":7},"sessionsAtLeast":[],"node":"node-a","#
                + #""engines":[{"name":"keyStore","words":"The key store","engine":"sqlite","state":"answers"}],"pool":{"busy":1,"waiting":0,"limit":9,"overloaded":false}}\#n\#n"#
            return (refusals + [overview]).map { Data($0.utf8) }
        }
    }
}

extension Int {
    /// As the console writes a number.
    fileprivate var shown: String { formatted(.number.locale(Locale(identifier: "en_US"))) }
}

extension BrowserStage {
    /// Asks for licenses, each as another viewer; some of them with an invalid token.
    func ask(_ count: Int, from first: Int, refusing refused: Int) async throws {
        let key = try await demonstration.server.shared.engines.keys.page(of: "demo", search: "", after: nil, limit: 1)
        let kid = Base64URL.text(try #require(key.first).kid.bytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                let token =
                    number < refused
                    ? "none"
                    : try DemoFolder.token(in: folder.file("demo"), for: "viewer-\(first + number)", at: Date())
                        .revealedText
                var request = URLRequest(url: try #require(URL(string: demonstration.sheet.clearkey)))
                request.httpMethod = "POST"
                request.httpBody = Data(#"{"kids":["\#(kid)"],"type":"temporary"}"#.utf8)
                request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
                request.setValue("application/json", forHTTPHeaderField: "Content-Type")
                let asked = request
                group.addTask { _ = try await URLSession.shared.data(for: asked) }
            }
            try await group.waitForAll()
        }
    }

    /// License requests by how they ended, of the server's `/metrics`.
    fileprivate func metrics() async throws -> [String: Int] {
        let url = try #require(URL(string: demonstration.sheet.metrics))
        let text = String(decoding: try await URLSession.shared.data(from: url).0, as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("latchkey_license_requests_total{") }
        return try lines.reduce(into: [:]) { sums, line in
            let outcome = try #require(line.firstMatch(of: /outcome="(\w+)"/)).1
            let count = try #require(line.split(separator: " ").last.flatMap { Double($0) })
            sums[String(outcome), default: 0] += Int(count)
        }
    }
}
