import Foundation
import LatchkeyCore
import Testing

@Suite struct RedactionTests {
    private let redaction = Redaction(headers: ["X-Key-Data"], queryItems: ["pass"], fields: ["blob"])

    @Test(arguments: ["token", "TOKEN", "accessToken", "authXml", "sig", "signature", "pass", "Pass", "customdata"])
    func `the value of a secret query item is replaced`(name: String) {
        let shown = redaction.redacted(urlText: "https://h/p?id=7&\(name)=s3cr3t&z=1")
        #expect(!shown.contains("s3cr3t"))
        #expect(shown.hasPrefix("https://h/p?id=7&\(name)=‹6:"))
        #expect(shown.hasSuffix("&z=1"))
    }

    @Test(arguments: ["https://h/p", "https://h/p?", "https://h/p?id=7&flag", "not an url", "", "skd://a?b", "//h/p@q"])
    func `text without secrets is unchanged`(text: String) {
        #expect(redaction.redacted(urlText: text) == text)
    }

    @Test(arguments: ["https://me:s3cr3t@h/p?x=1", "https://s3cr3t@h/p?x=1", "https://a@s3cr3t@h/p?x=1"])
    func `user and password are replaced`(text: String) {
        #expect(redaction.redacted(urlText: text) == "https://‹user›@h/p?x=1")
    }

    @Test func `a secret value may hold equals signs`() {
        #expect(!redaction.redacted(urlText: "https://h?token=abc=def==").contains("def"))
    }

    @Test func `an URL is redacted like its text`() throws {
        let url = try #require(URL(string: "https://h/p?token=s3cr3t"))
        #expect(redaction.redacted(url) == redaction.redacted(urlText: "https://h/p?token=s3cr3t"))
    }

    @Test(arguments: [
        ("Authorization", true), ("COOKIE", true), ("Set-Cookie", true), ("x-key-data", true), ("X-Auth-Token", true),
        ("Content-Type", false), ("Retry-After", false),
    ])
    func `header fields are secret by name`(name: String, isSecret: Bool) {
        #expect(redaction.isSecret(header: name) == isSecret)
        #expect(redaction.redacted("s3cr3t", ofHeader: name).contains("s3cr3t") != isSecret)
    }

    @Test(arguments: [
        ("spc", true), ("CKC", true), ("payload", true), ("license", true), ("blob", true), ("jwt", true),
        ("assetId", false), ("kid", false),
    ])
    func `fields are secret by name`(name: String, isSecret: Bool) {
        #expect(redaction.isSecret(field: name) == isSecret)
    }

    @Test func `a vendor adds secrets only for itself`() {
        #expect(!Redaction.standard.isSecret(header: "X-Key-Data"))
        #expect(!Redaction.standard.isSecret(queryItem: "pass"))
        #expect(!Redaction.standard.isSecret(field: "blob"))
    }
}
