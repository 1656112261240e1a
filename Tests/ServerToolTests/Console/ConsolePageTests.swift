import Foundation
import LatchkeyHTTP
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

@Suite(
    .timeLimit(.minutes(5)), .serialized,
    .enabled(if: HeadlessBrowser.isInstalled, "Chromium is not installed; make deps brings it."))
struct ConsolePageTests {
    /// Width of the window, the scheme, and the page's color in it.
    private static let looks: [(Int, HeadlessBrowser.Scheme, String)] = [
        (400, .dark, "rgb(20, 23, 27)"), (1_600, .light, "rgb(246, 247, 249)"),
    ]

    @Test(arguments: looks)
    func `an operator signs in, sees live figures, and acts`(
        _ width: Int, _ scheme: HeadlessBrowser.Scheme, _ color: String
    ) async throws {
        let test = try await TestServer()
        try await test.importKeys(1...60)
        for number in 1...3 {
            _ = try await test.license(
                1, token: try test.token("<b>ann</b>\u{202e}\(number)"), requestID: "request-\(number)")
        }
        let server = test.server
        let operators = OperatorListener(
            shared: server.shared, state: { server.current }, reload: { try await server.reload() })
        let (reports, reporting) = AsyncStream<Data>.makeStream()
        let front = HTTPServer { request in
            switch request.path {
            case "/harness": return .harness(width)
            case "/more":
                _ = try? await test.license(1, token: "nonsense", requestID: "request-live")
                return .text("ok")
            case "/report":
                reporting.yield(request.body)
                return .text("ok")
            default: return await operators.answer(request)
            }
        }
        let port = try front.start()
        let browser = try HeadlessBrowser(
            "http://127.0.0.1:\(port)/harness", scheme: scheme, profile: test.root.file("profile"))
        var report = JSONValue.null
        for await data in reports {
            report = JSONValue(data) ?? .null
            break
        }
        let lines = await browser.end(after: "the harness says so")
        await front.stop(within: .zero)
        #expect(report["error"] == nil)
        #expect(report["background"]?.text == color)
        #expect(report["bold"]?.number == 0)
        let entry = report["entry"]?.text ?? ""
        for words in ["admin:security-1", "keyDisabled", "demo/\(TestServer.kid(1))"] {
            #expect(entry.contains(words), "\(entry)")
        }
        for page in [
            "overview", "refusals", "accounts", "blocks", "keys", "decisions", "credentials", "policies", "tenants",
            "audit",
            "server",
        ] {
            #expect(report["overflow"]?[page]?.number == 0, "\(page)")
        }
        let messages = lines.filter { $0.contains("CONSOLE") }
        #expect(messages.count == 1, "\(messages)")
        #expect(messages.first?.contains("the harness says so") == true)
        let audit = try await test.audit()
        for event in ["keyDisabled demo/\(TestServer.kid(1))", "blockSet demo/viewer-7", "blockLifted demo/viewer-7"] {
            #expect(audit.contains("\(event) by admin:security-1"), "\(audit)")
        }
    }
}

extension HTTPResponse {
    /// A page that opens the console in a separate window, uses it as a person would, and reports the result.
    fileprivate static func harness(_ width: Int) -> HTTPResponse {
        let page = """
            <!doctype html><script>
            const until = async (what, test) => {
              for (let turn = 0; turn < 2400; turn++) {
                try { const found = test(); if (found) return found; } catch {}
                await new Promise(done => setTimeout(done, 25));
              }
              throw new Error("never: " + what);
            };
            (async () => {
              const report = { overflow: {} };
              try {
                const page = window.open("/", "console", "popup,width=\(width),height=900");
                const text = () => page.document.querySelector("main").innerText.replaceAll(/\\s+/g, " ");
                const button = name => [...page.document.querySelectorAll("main button")].find(one => one.innerText === name);
                const key = await until("sign-in", () => page.document.querySelector("#key"));
                key.value = "\(TestServer.key(.security))";
                page.document.querySelector("form").requestSubmit();
                await until("totals", () => text().includes("granted 3") && text().includes("refused 0"));
                await fetch("/more");
                await until("a live refusal", () => text().includes("tokenForm") && text().includes("refused 1"));
                report.background = page.getComputedStyle(page.document.body).backgroundColor;
                const known = { overview: "Requests per second", refusals: "tokenForm", accounts: "<b>ann</b>",
                  blocks: "as this node enforces them: nothing here.",
                  keys: "60 in all", decisions: "request-3", credentials: "2048 bits", policies: "demo", tenants: "Reseal", audit: "adminLogin",
                  server: "/admin/v1/tenants/{tenant}/keys/{kid}" };
                for (const [name, words] of Object.entries(known)) {
                  page.location.hash = "#/" + name;
                  await until(name, () => page.document.querySelector("h1").innerText === page.document.title.split(" – ")[0]
                    && page.document.querySelector(`nav a[href="#/${name}"]`).getAttribute("aria-current") === "page"
                    && text().includes(words));
                  report.overflow[name] = Math.max(0, page.document.documentElement.scrollWidth - page.innerWidth);
                }
                page.location.hash = "#/keys";
                const kid = "\(TestServer.kid(1))";
                (await until("the key", () => button(kid))).click();
                (await until("its page", () => button("Disable"))).click();
                const left = await until("a question", () => page.document.querySelector("dialog[open]"));
                page.location.hash = "#/audit";
                await until("no question on another page", () => !left.isConnected && text().includes("adminLogin"));
                page.location.hash = "#/keys";
                (await until("the key again", () => button(kid))).click();
                (await until("its page again", () => button("Disable"))).click();
                await until("its policy's members", () => text().includes("validity.lease") && text().includes("cbcs"));
                const asked = await until("the audit's entry", () => page.document.querySelector("dialog[open]"));
                report.entry = asked.innerText.replaceAll(/\\s+/g, " ");
                asked.querySelector("button.danger").click();
                await until("disabled", () => button("Enable"));
                page.location.hash = "#/decisions?tenant=demo&id=request-2";
                (await until("why", () => text().includes("Request request-2") && button("Evaluate"))).click();
                await until("the dry run", () => text().includes("No change: license."));
                page.location.hash = "#/blocks?name=viewer-7";
                const form = await until("the form", () => page.document.querySelector("select[name=kind]").form);
                if (form.elements.namedItem("name").value !== "viewer-7") throw new Error("The account is not filled in.");
                form.elements.namedItem("reason").value = "stolen";
                form.elements.namedItem("until").value = "2999-01-01T00:00";
                form.requestSubmit();
                (await until("the block's entry", () => page.document.querySelector("dialog[open]"))).querySelector("button.danger").click();
                (await until("the block", () => text().includes("2999-01-01 00:00:00") && button("Unblock"))).click();
                (await until("its end's entry", () => page.document.querySelector("dialog[open]"))).querySelector("button.danger").click();
                await until("no block", () => text().includes("as this node enforces them: nothing here."));
                page.location.hash = "#/accounts";
                report.bold = (await until("accounts", () => text().includes("ann") && page.document)).querySelectorAll("table b").length;
                await until("marks by their numbers", () => text().includes("\\\\u{202e}1"));
                page.document.querySelector("#out").click();
                await until("signed out", () => page.document.querySelector("#key"));
                if (page.sessionStorage.getItem("latchkey-key")) throw new Error("the key is still there");
              } catch (error) { report.error = String(error); }
              console.error("the harness says so");
              await fetch("/report", { method: "POST", body: JSON.stringify(report) });
            })();
            </script>
            """
        // A window that is opened belongs to the same group only under the same policy.
        return HTTPResponse(
            status: 200,
            headers: [.contentType: "text/html; charset=utf-8", "Cross-Origin-Opener-Policy": "same-origin"],
            body: .bytes(Data(page.utf8)))
    }
}
