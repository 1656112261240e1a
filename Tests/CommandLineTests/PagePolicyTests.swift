import Foundation
import LatchkeySupport
import LatchkeyTesting
import Testing

@testable import Latchkey
@testable import LatchkeyCommandLine

/// The resources that the tools' pages may load and run. Their text is tested with each page.
@Suite(.timeLimit(.minutes(1))) struct PagePolicyTests {
    private static var pages: [String: String] {
        [
            "trace": String(decoding: KeyTrace(seed: 1).data(as: .html), as: UTF8.self),
            "report": HTML.page(
                title: "a", heading: "a", summary: "a", [.element("p", [:], "</script><script>x()</script>")]),
            "serve": ServeSheet(
                address: "http://127.0.0.1:1\"><script>x()</script>", certificates: [], streams: [], services: []
            ).page,
        ]
    }

    @Test func `each page first states that it runs and loads nothing`() throws {
        let pages = Self.pages
        #expect(pages.count == 3)
        for (name, page) in pages {
            let text = page.replacing("&#39;", with: "'")
            let meta = #"<meta http-equiv="Content-Security-Policy" content="\#(HTML.contentSecurityPolicy)">"#
            let policy = try #require(text.range(of: meta), "\(name)")
            let style = try #require(text.range(of: "<style>"), "\(name)")
            #expect(policy.lowerBound < style.lowerBound, "\(name)")
            // The policy lets in only its own styles; it has nothing else.
            #expect(!text.contains("<script") && !text.contains("<form") && !text.contains("<base"), "\(name)")
            #expect(text.firstMatch(of: /<[^>]+ on[a-z]+=/) == nil, "\(name)")
            #expect(text.firstMatch(of: /(?:src|href)="(?:https?:)?\/\//) == nil, "\(name)")
        }
        let policy = HTML.contentSecurityPolicy
        for part in ["default-src 'none'", "base-uri 'none'", "form-action 'none'"] { #expect(policy.contains(part)) }
        #expect(!policy.contains("script-src"))
    }
}
