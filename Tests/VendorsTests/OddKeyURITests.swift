import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// Key URIs as packagers really write them.
@Suite(.timeLimit(.minutes(5))) struct OddKeyURITests {
    /// A profile whose license goes to the key URI.
    private func ready(_ text: String) -> ProfileWire {
        ProfileWire(.vuDRMRaw, key: KeyURI(text), ["licenseURL": ""])
    }

    @Test(arguments: [
        ("skd://h.example/license/abc", "https://h.example/license/abc", "abc"),
        ("SKD://H.example/License/ABC", "https://H.example/License/ABC", "ABC"),
        ("skd:h.example/abc", "https://h.example/abc", "abc"),
        ("skd://h.example/abc\n", "https://h.example/abc", "abc"),
        ("skd://h.example/abc\r\n", "https://h.example/abc", "abc"),
        ("skd://h.example/a b", "https://h.example/a%20b", "a b"),
        ("skd://h.example/a%20b", "https://h.example/a%20b", "a%20b"),
        ("skd://h.example/a%20b c", "https://h.example/a%20b%20c", "a%20b c"),
        ("skd://h.example/100%", "https://h.example/100%25", "100%"),
        ("skd://h.example/%zz|", "https://h.example/%25zz%7C", "%zz|"),
        ("skd://h.example/a;b=1;c", "https://h.example/a;b=1;c", "a;b=1;c"),
        ("skd://h.example/MTIz+4/5=", "https://h.example/MTIz+4/5=", "5="),
        ("skd://h.example/id:iv", "https://h.example/id:iv", "id:iv"),
        ("skd://h.example/abc?x=1&x=2", "https://h.example/abc?x=1&x=2", "abc?x=1&x=2"),
        ("skd://h.example/abc?", "https://h.example/abc?", "abc?"),
        ("skd://h.example/skd/skd", "https://h.example/skd/skd", "skd"),
        ("skd://h.example/größe", "https://h.example/gr%C3%B6%C3%9Fe", "größe"),
        ("skd://h.example/a#b", "https://h.example/a", "a#b"),
    ])
    func `become an URL and an identifier without losing a character`(
        text: String, url: String, identifier: String
    ) async throws {
        let wire = ready(text)
        #expect(try await wire.licenseRequest().hasPrefix("POST \(url)\n"))
        #expect(try wire.contentIdentifier() == identifier)
    }

    @Test(arguments: ["skd://", "skd:", "", "skd://id:iv", "skd://a b/c", "skd://?x"])
    func `without a host are refused as license address`(text: String) async {
        let error = await #expect(throws: IntegrationError.self) {
            var wire = ready(text)
            wire.profile.contentIdentifierRule = .fixed("id")
            return try await wire.licenseRequest()
        }
        #expect(error?.kind == .invalidURL)
    }

    @Test func `that are a data URI need a configured license address`() async {
        let wire = ready("data:text/plain;base64,QUJD")
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.reason == "The license URL needs the setting \"licenseURL\".")
    }

    @Test(arguments: ["skd://MTIzNDU2Nzg5MA==", "skd://11111111-2222-3333-4444-555555555555:ffff", "skd://a b"])
    func `that are bare identifiers work with a configured license address`(text: String) async throws {
        let request = try await ProfileWire(.vuDRMTheo, key: KeyURI(text)).licenseRequest()
        #expect(request.contains(#""contentId":"\#(text.dropFirst(6))""#))
    }
}
