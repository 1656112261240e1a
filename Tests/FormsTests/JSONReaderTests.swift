import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyForms

@Suite struct JSONReaderTests {
    @Test func `every kind of value is read`() throws {
        let json = #" { "a" : [1, -2.5e3, 0, true, false, null, "x\u00e9\ud83d\ude00\n\/"], "": {} } "#
        #expect(
            try read(json)
                == .object([
                    "a": .array([
                        .number(1), .number(-2_500), .number(0), .flag(true), .flag(false), .null, .text("xé😀\n/"),
                    ]), "": .object([:]),
                ]))
    }

    @Test(arguments: [
        "", " ", "{", "[", "]", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "'a'", "tru", "nul",
        "True",
        "01", "+1", "1.", ".5", "-", "1e", "0x10", "nan", "NaN", "inf", "Infinity", "1e999", "1 2", "{} {}", "[1]x",
        "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"a\nb\"",
        "\u{feff}{}", "// a\n1", "[1 2]",
    ])
    func `invalid JSON is refused`(_ text: String) {
        #expect(throws: JSONError.self) { try read(text) }
    }

    @Test func `invalid UTF-8 is refused`() {
        #expect(throws: JSONError.unexpected(at: 0)) { try JSONReader.value(of: Data([0x22, 0xff, 0x22])) }
    }

    @Test func `a duplicate member is refused with its place`() {
        #expect(throws: JSONError.twice(at: 7)) { try read(#"{"a":1,"a":1}"#) }
        #expect(throws: JSONError.twice(at: 7)) { try read("{\"a\":1,\"\\u0061\":2}") }
    }

    @Test func `an error's place is the first invalid byte`() {
        #expect(throws: JSONError.unexpected(at: 4)) { try read("[1, x]") }
    }

    @Test(arguments: [(32, true), (33, false), (100_000, false)], [("[", "]"), (#"{"a":"#, "}")])
    func `levels are limited`(_ depth: (Int, Bool), _ brackets: (String, String)) {
        let inner = brackets.0 == "[" ? "" : "1"
        let text =
            String(repeating: brackets.0, count: depth.0) + inner + String(repeating: brackets.1, count: depth.0)
        #expect(((try? read(text)) != nil) == depth.1)
    }

    @Test(arguments: [(9_999, true), (10_000, false), (300_000, false)])
    func `values are limited`(_ count: Int, _ isRead: Bool) {
        let text = "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]"
        #expect(((try? read(text)) != nil) == isRead)
        if !isRead { #expect(throws: JSONError.tooMany) { try read(text) } }
    }

    @Test(arguments: 0..<40) func `cut anywhere it is refused, never read in part`(_ length: Int) {
        let json = #"{"a":[1,true,null,"x\u00e9"],"b":{"c":-1e3}}"#
        #expect((try? read(String(json.prefix(length)))) == nil)
    }

    @Test(arguments: 0..<200) func `damaged JSON is read only if Foundation reads it`(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var bytes = Array(#"{"a":[1,true,null,"x\u00e9"],"b":{"c":-1e3,"d":[{},[]]}}"#.utf8)
        for _ in 0..<3 {
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...127, using: &generator)
        }
        guard let value = try? JSONReader.value(of: Data(bytes)) else { return }
        #expect((try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil)
        #expect(try JSONReader.value(of: JSONEncoder().encode(value)) == value)
    }

    private func read(_ text: String) throws -> JSONValue { try JSONReader.value(of: Data(text.utf8)) }
}
