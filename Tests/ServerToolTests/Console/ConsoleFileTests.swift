import Foundation
import LatchkeyHTTP
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool

@Suite struct ConsoleFileTests {
    private func text(_ name: String) throws -> String {
        String(decoding: try #require(ConsoleFile.response(name).bytes), as: UTF8.self)
    }

    @Test(arguments: [
        "", "console.css", "console.js", "changes.js", "figures.js", "overview.js", "pages.js", "places.js",
        "reports.js",
        "icon.svg",
    ])
    func `every file forbids what is not the server's own`(_ name: String) throws {
        let response = ConsoleFile.response(name)
        #expect(response.status == 200)
        let policy = try #require(response.headers["Content-Security-Policy"])
        #expect(
            policy.hasPrefix(
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"))
        #expect(!policy.contains("unsafe"))
        #expect(try !text(name).contains("http://www.example"))
    }

    @Test(arguments: ["console.js", "changes.js", "figures.js", "overview.js", "pages.js", "places.js", "reports.js"])
    func `scripts write texts as texts, and run none`(_ name: String) throws {
        let script = try text(name)
        for word in [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "https://",
        ] {
            #expect(!script.contains(word), "\(word)")
        }
    }

    @Test func `the page has no script and no style of its own`() throws {
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
