import Foundation
@_spi(Integrations) import LatchkeyVendors
import Testing

/// How rules read in a profile's JSON.
@Suite struct RuleSpellingTests {
    @Test func `a change to an URL`() throws {
        try expect(URLRule.Change.appendPathIfAbsent(.contentID), reads: #"{"appendPathIfAbsent":"contentID"}"#)
    }

    @Test(arguments: [
        (#"{"name":"spc","value":"spc"}"#, BodyRule.Field("spc", .spc)),
        (#"{"escaping":"none","name":"spc","value":"spcURLSafe"}"#, .init("spc", .spcURLSafe, escaping: .none)),
    ])
    func `a field says only what is not usual`(json: String, field: BodyRule.Field) throws {
        try expect(field, reads: json)
    }

    @Test func `a place of codes`() throws { try expect(ErrorRules.ReplyField.knownCode, reads: #""knownCode""#) }

    private func expect<Value: Codable & Equatable>(_ value: Value, reads json: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == json)
        #expect(try JSONDecoder().decode(Value.self, from: Data(json.utf8)) == value)
    }
}
