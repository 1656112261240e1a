import Foundation
import LatchkeyHTTP
import TLSPeer
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

@Suite(.timeLimit(.minutes(5))) struct ConsoleFileTests {
    private static func server(_ how: String) async throws -> TestServer {
        switch how {
        case "plain": return try await TestServer()
        case "a certificate": return try await TestServer(prepare: { try SelfSigned().serve("operators", of: $0) })
        default:
            let base = how == "a proxy with TLS" ? "https://console.example" : "http://127.0.0.1:8445"
            return try await SignOnStage(["redirectBase": #""\#(base)""#]).stage
        }
    }

    @Test(arguments: ["plain", "a certificate", "a proxy with TLS", "a proxy on loopback"])
    func `a console over TLS makes browsers use only TLS for a year`(_ how: String) async throws {
        let test = try await Self.server(how)
        let listener = OperatorListener(
            shared: test.server.shared, state: { [server = test.server] in server.current }, reload: { [] })
        for path in ["/", "/admin/v1/me", "/nowhere"] {
            let answer = await listener.answer(
                HTTPRequest(method: .get, target: path, headers: [:], body: Data()))
            let value = answer.headers["Strict-Transport-Security"]
            #expect(
                value == (["a certificate", "a proxy with TLS"].contains(how) ? "max-age=31536000" : nil), "\(path)")
        }
    }

    private static let scripts = [
        "accounts.js", "changes.js", "console.js", "figures.js", "forms.js", "keys.js", "overview.js", "pages.js",
        "places.js", "policies.js", "reports.js",
    ]

    private func text(_ name: String) throws -> String {
        String(decoding: try #require(ConsoleFile.response(name).bytes), as: UTF8.self)
    }

    @Test(arguments: ["", "console.css", "icon.svg"] + scripts)
    func `every file forbids external resources`(_ name: String) throws {
        let response = ConsoleFile.response(name)
        #expect(response.status == 200)
        let policy = try #require(response.headers["Content-Security-Policy"])
        #expect(
            policy.hasPrefix(
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"))
        #expect(!policy.contains("unsafe"))
        #expect(try !text(name).contains("http://www.example"))
    }

    @Test(arguments: scripts)
    func `scripts insert text as text, and run none`(_ name: String) throws {
        let script = try text(name)
        for word in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "https://",
        ] {
            #expect(!script.contains(word), "\(word)")
        }
    }

    @Test func `the page has no inline script or style`() throws {
        let page = try text("")
        #expect(!page.contains("<style"))
        #expect(!page.contains("style="))
        #expect(!page.contains("onclick"))
        #expect(page.contains(#"<script type="module" src="/console.js"></script>"#))
    }

    @Test(arguments: ["console.html", "../server.json", "admin-key.txt", "x"])
    func `there is no other file`(_ name: String) {
        #expect(ConsoleFile.response(name).status == 404)
    }
}
