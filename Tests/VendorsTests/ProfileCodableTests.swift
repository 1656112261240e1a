import Foundation
import LatchkeyCore
import Testing

@_spi(Integrations) @testable import LatchkeyVendors

@Suite(.timeLimit(.minutes(5))) struct ProfileCodableTests {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func copy<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(json(value).utf8))
    }

    @Test func `a profile's JSON reads like the rules in it`() throws {
        #expect(
            try json(VendorProfile.vuDRMRaw.certificate)
                == #"{"fetched":{"decoder":"der","request":{"headers":[],"method":"GET","url":{"base":{"setting":"certificateURL"},"changes":[]}}}}"#
        )
        #expect(
            try json(VendorProfile.vuDRM.license)
                == #"{"body":{"json":{"contentId":{"$":"contentID"},"payload":{"$":"spc"},"token":{"$":{"credential":"token"}}}},"headers":[],"method":"POST","url":{"base":{"firstOf":[{"setting":"licenseURL"},"httpsURI"]},"changes":[]}}"#
        )
    }

    /// Each rule that JSON has, as it is written.
    static let rules: [(String, TextRule)] = [
        (#""wholeURI""#, .wholeURI), (#""remainder""#, .remainder), (#""remainderBeforeQuery""#, .remainderBeforeQuery),
        (#""afterFirstQuestionMark""#, .afterFirstQuestionMark),
        (#""afterLastQuestionMark""#, .afterLastQuestionMark), (#""lastPathComponent""#, .lastPathComponent),
        (#""host""#, .host), (#""hostName""#, .hostName), (#""firstQueryValue""#, .firstQueryValue),
        (#""httpsURI""#, .httpsURI),
        (#""contentID""#, .contentID), (#""spcIdentifier""#, .spcIdentifier), (#""spc""#, .spc),
        (#""spcURLSafe""#, .spcURLSafe), (#""messageID""#, .messageID), (#"{"afterLast":";"}"#, .afterLast(";")),
        (#"{"query":"q"}"#, .query("q")), (#"{"fixed":"host"}"#, .fixed("host")), (#"{"setting":"s"}"#, .setting("s")),
        (#"{"credential":"c"}"#, .credential("c")), (#"{"lookup":"l"}"#, .lookup("l")),
        (#"{"session":"s"}"#, .session("s")), (#"{"reply":"a.0"}"#, .reply("a.0")),
        (#"{"onlyFor":{"purpose":"renewal","text":"host"}}"#, .onlyFor(.renewal, .host)),
        (#"{"firstOf":["host",{"fixed":"x"}]}"#, .firstOf([.host, "x"])), (#"{"all":[]}"#, .all([])),
        (#"{"joined":{"of":["host"],"separator":","}}"#, .joined([.host], separator: ",")),
        (#"{"base64Decoded":"host"}"#, .base64Decoded(.host)), (#"{"base64":"host"}"#, .base64(.host)),
        (#"{"percentDecoded":"host"}"#, .percentDecoded(.host)),
        (#"{"percentEncoded":"host"}"#, .percentEncoded(.host)), (#"{"ifBase64":"host"}"#, .ifBase64(.host)),
        (#"{"upTo":{"in":"host","text":"="}}"#, .upTo("=", in: .host)),
        (#"{"replacing":{"in":"host","text":"a","with":{"fixed":"b"}}}"#, .replacing("a", with: "b", in: .host)),
        (#"{"from":{"take":"host","text":"httpsURI"}}"#, .from(.httpsURI, take: .host)),
        (#"{"template":"{host}"}"#, .template("{host}")),
        (
            #"{"json":{"a":[1,false,"t",{"$":"host"},{"$x":"y"}],"b":{},"n":{"$number":"host"}}}"#,
            .json([
                "a": .array([1, .bool(false), "t", .rule(.host), ["$x": "y"]]), "b": .object([:]),
                "n": .wholeNumber(.host),
            ])
        ),
    ]

    @Test(arguments: rules)
    func `each text rule has one spelling in JSON`(spelling: String, rule: TextRule) throws {
        #expect(try json(rule) == spelling)
        #expect(try JSONDecoder().decode(TextRule.self, from: Data(spelling.utf8)) == rule)
    }

    @Test func `every name of a text rule is among them`() throws {
        let spelled = try Self.rules.map { spelling, _ in
            let value = try JSONSerialization.jsonObject(with: Data(spelling.utf8), options: .fragmentsAllowed)
            return (value as? [String: Any])?.keys.first ?? value as? String ?? ""
        }
        #expect(spelled.sorted() == TextRule.Name.allCases.map(\.rawValue).sorted())
        #expect(Set(spelled).count == spelled.count)
    }

    @Test(arguments: [#""wholeUri""#, #"{"Setting":"s"}"#, "{}", "3", #"{"base64":"nothing"}"#, #"{"host":1,"spc":2}"#])
    func `an unknown rule is an error, and never another rule`(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(TextRule.self, from: Data(json.utf8)) }
    }

    @Test(
        arguments: [
            .stripQuery, .setQuery(name: "a", value: .host), .addQueryIfAbsent(name: "a", value: "b"),
            .copyKeyURIQuery(names: ["KID"]), .copyKeyURIQueryIfAbsent(names: ["KID"]), .appendPath(.contentID),
            .appendPathIfAbsent(.contentID), .useOrigin(.setting("o")),
        ] as [URLRule.Change])
    func `each change of an URL comes back from JSON`(change: URLRule.Change) throws {
        #expect(try copy(change) == change)
    }

    @Test(
        arguments: [
            .raw, .base64Text, .form([.init("a", .spc)]), .formWithKeyURIQuery([]), .json(["a": 1]),
            .multipart([.init("spc", .spc)]),
        ] as [BodyRule])
    func `each body comes back from JSON`(body: BodyRule) throws { #expect(try copy(body) == body) }

    @Test(
        arguments: [
            .raw, .base64Text, .tagged, .json(["a.b"]), .jsonOr(["ckc"], .jsonOr(["x"], .raw)), .tolerant,
            .preferring(.json(["ckc"])),
        ] as [CKCDecoder])
    func `each CKC decoder comes back from JSON`(decoder: CKCDecoder) throws { #expect(try copy(decoder) == decoder) }

    @Test(arguments: [.der, .base64Text, .json("a"), .sniff] as [CertificateDecoder])
    func `each certificate decoder comes back from JSON`(decoder: CertificateDecoder) throws {
        #expect(try copy(decoder) == decoder)
        #expect(try copy(VendorProfile.CertificateRule.inline(setting: "c")) == .inline(setting: "c"))
    }

    @Test func `error rules leave out what has a default`() throws {
        #expect(try json(ErrorRules()) == "{}")
        #expect(try copy(ErrorRulesTests.rules) == ErrorRulesTests.rules)
        #expect(try JSONDecoder().decode(ErrorRules.self, from: Data("{}".utf8)) == ErrorRules())
        let redaction = Redaction(headers: ["b", "a"])
        #expect(try json(redaction) == #"{"headers":["a","b"]}"#)
        #expect(try copy(redaction) == redaction)
    }

    @Test func `the evidence comes back from JSON and may be left out`() throws {
        let evidence = ProfileEvidence(.requestsAgree, read: "2026-11-22", "a recorded request")
        #expect(try copy(evidence) == evidence)
        #expect(try json(evidence) == #"{"level":"requestsAgree","read":"2026-11-22","source":"a recorded request"}"#)
        #expect(try JSONDecoder().decode(VendorProfile.self, from: Data(Self.smallest.utf8)).evidence == nil)
    }

    static let smallest = #"""
        {"identifier": "mine", "name": "Mine", "contentIdentifier": "lastPathComponent",
         "certificate": {"inline": "certificate"}, "decoder": {"jsonOr": {"paths": ["ckc"], "else": "tagged"}},
         "license": {"method": "POST", "url": {"base": "httpsURI"}, "body": {"form": [{"name": "spc", "value": "spc"}]}}}
        """#

    @Test func `a profile written by hand needs no more than what it says`() async throws {
        let profile = try JSONDecoder().decode(VendorProfile.self, from: Data(Self.smallest.utf8))
        let expected = """
            POST https://h.example/a
            content-type: application/x-www-form-urlencoded

            spc=%2B%2F8AAQ%3D%3D
            """
        #expect(try await ProfileWire(profile, key: "skd://h.example/a").licenseRequest() == expected)
        #expect(profile.token == .opaque && profile.hosts.isEmpty && profile.errors == ErrorRules())
    }

    @Test(arguments: [
        (#""lastPathComponent""#, #""lastPath""#, "contentIdentifier", "lastPath"),
        (#"{"inline": "certificate"}"#, #"{"inlined": "x"}"#, "certificate", "inlined"),
        (#"{"base": "httpsURI"}"#, #"{"base": {"setting": 1}}"#, "license.url.base.setting", "String"),
        (#""value": "spc""#, #""value": {"query": "a", "host": "b"}"#, "license.body.form.0.value", "host, query"),
        (#""else": "tagged""#, #""else": "json""#, "decoder.jsonOr.else", "needs a parameter"),
        (#""name": "Mine","#, "", "", "name"), (#"{"jsonOr""#, #"{"jsonor""#, "decoder", "jsonor"),
    ])
    func `broken JSON is refused with the place and the name`(
        part: String, broken: String, place: String, name: String
    ) throws {
        let text = Self.smallest.replacing(part, with: broken)
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(VendorProfile.self, from: Data(text.utf8))
        }
        let found = try #require(error)
        let path = found.context?.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(
            separator: ".")
        #expect(path == place)
        #expect("\(found)".contains(name))
    }
}

extension DecodingError {
    fileprivate var context: Context? {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context
        @unknown default: nil
        }
    }
}
