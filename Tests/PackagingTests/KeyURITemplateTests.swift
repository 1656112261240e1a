import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyPackaging
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct KeyURITemplateTests {
    private static let kid = KeyID(bytes: Array(240...255 as ClosedRange<UInt8>))
    private static let iv = Secret(Array(0..<16))

    @Test(arguments: [
        "movie", "a/b", "a:b", "100%", "a b", "é", "e\u{301}", "日本語", "😀", "%2F", "a%2fb", "..", "?x=1&y#z", "{kid}",
        "\"", "a\nb", "+", "~-_.",
        "\u{0}",
    ])
    func `a key URI is read back into its parts`(_ id: String) throws {
        let content = try #require(ContentName(id))
        let kid = try #require(Self.kid)
        let texts = [
            "skd://keys.test/{contentId}/{kid}", "skd://{kid}?c={contentId}", "skd://{contentId}:{kid}:{iv}",
            "skd://{kid}{iv}/{contentId}",
            "https://keys.test/t/acme/clear/{contentId}/{kid}.key",
        ]
        for text in texts {
            let template = try KeyURITemplate(text)
            let uri = template.uri(content: content, kid: kid, iv: Self.iv)
            #expect(uri.raw.utf8.allSatisfy { 0x21...0x7e ~= $0 && $0 != UInt8(ascii: "\"") })
            let reading = try #require(template.reading(of: uri))
            #expect(reading.kid == kid)
            #expect(reading.content == content)
            #expect(reading.iv == (text.contains("{iv}") ? Array(0..<16) : nil))
        }
    }

    @Test(arguments: [
        "a b", "a&b", "a;b", "é", "日本語", "urn:uuid:1-2", "a/b", "a//b/", "?x=1&y#z", "100% a", "mo%4", "\"",
    ])
    func `a key URI with decoded percent escapes is read`(_ id: String) throws {
        let content = try #require(ContentName(id))
        let kid = try #require(Self.kid)
        for text in [
            "skd://{contentId}/{kid}", "skd://{kid}?c={contentId}", "skd://{contentId}:{kid}:{iv}",
            "skd://{kid}{iv}/{contentId}",
        ] {
            let template = try KeyURITemplate(text)
            let uri = template.uri(content: content, kid: kid, iv: Self.iv)
            let decoded = try #require(uri.raw.removingPercentEncoding)
            try #require(decoded != uri.raw)
            #expect(template.reading(of: KeyURI(decoded))?.content != content)
            for name in [decoded, String(decoded.dropFirst("skd://".count))] {
                #expect(KeyURIReading(ContentIdentifier(name), template: template) == template.reading(of: uri))
            }
        }
    }

    @Test(arguments: 0..<300)
    func `both directions agree for any bytes`(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let odd = Array("/:% aé{}".utf8)
        let bytes = (0..<Int.random(in: 1...64, using: &generator)).map { _ in
            Bool.random(using: &generator)
                ? UInt8.random(in: 0...255, using: &generator) : odd.randomElement(using: &generator) ?? 0
        }
        let content = try #require(ContentName(bytes: Data(bytes)))
        let kid = try #require(KeyID(bytes: generator.bytes(16)))
        let template = try KeyURITemplate("skd://host/{contentId}/x{kid}?iv={iv}")
        let uri = template.uri(content: content, kid: kid, iv: Self.iv)
        #expect(template.reading(of: uri)?.content == content)
        #expect(template.reading(of: uri)?.kid == kid)
    }

    @Test(arguments: [
        "", "skd://keys.test/movie", "skd://other.test/movie/f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff",
        "skd://keys.test//f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff",
        "skd://keys.test/movie/f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfef",
        "skd://keys.test/movie/f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff0",
        "skd://keys.test/movie/f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff----",
        "skd://keys.test/movief0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff", "skd://keys.test/",
        "skd://keys.test/mo%vie/f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff",
        "skd://keys.test/mo%4/f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff",
        "skd://keys.test/mo vie/f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff",
        "skd://keys.test/é/f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff",
    ])
    func `other URIs are not read`(_ text: String) throws {
        #expect(try KeyURITemplate("skd://keys.test/{contentId}/{kid}").reading(of: KeyURI(text)) == nil)
    }

    @Test func `a player's other case is read`() throws {
        let reading = try KeyURITemplate("skd://keys.test/{contentId}/{kid}").reading(
            of: "skd://keys.test/a%2fB/F0F1F2F3-F4F5-F6F7-F8F9-FAFBFCFDFEFF")
        #expect(reading?.content?.text == "a/B")
        #expect(reading?.kid == Self.kid)
    }

    @Test(arguments: [
        "", "skd://keys.test", "keys.test/{kid}", "{kid}", "skd://{kid}{kid}", "skd://{kid}/{contentId}/{contentId}",
        "skd://{contentId}{kid}",
        "skd://{contentId}x{kid}", "skd://{contentId}%{kid}", "skd://{kid", "skd://{other}/{kid}", "skd://a b/{kid}",
        "skd://\"/{kid}", "skd://é/{kid}",
    ])
    func `templates that cannot be read back are refused`(_ text: String) {
        #expect(throws: Diagnosis.self) { try KeyURITemplate(text) }
    }
}
