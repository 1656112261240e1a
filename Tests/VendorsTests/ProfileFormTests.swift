import Foundation
import LatchkeyCore
import LatchkeyForms
import Testing

@_spi(Integrations) @testable import LatchkeyVendors

@Suite(.timeLimit(.minutes(5))) struct ProfileFormTests {
    /// The value of a text; `nil` for one with problems.
    private func read<Value>(_ form: JSONForm<Value>, _ json: String) throws -> Value? {
        var problems: [JSONProblem] = []
        let value = form.read(try JSONReader.value(of: json.utf8), .root, &problems)
        return problems.isEmpty ? value : nil
    }

    private func expect<Value: Equatable>(_ value: Value, comesBackIn form: JSONForm<Value>, as json: String? = nil)
        throws
    {
        let text = form.write(value).canonicalText
        #expect(text == json ?? text)
        #expect(try read(form, text) == value)
    }

    @Test func `a profile's JSON reads like the rules in it`() throws {
        #expect(
            JSONForm<VendorProfile.CertificateRule>.certificateRule.write(VendorProfile.vuDRMRaw.certificate)
                .canonicalText
                == #"{"fetched":{"decoder":"der","request":{"url":{"base":{"setting":"certificateURL"}}}}}"#
        )
        #expect(
            RequestRule.form.write(VendorProfile.vuDRM.license).canonicalText
                == #"{"body":{"json":{"contentId":{"$":"contentID"},"payload":{"$":"spc"},"token":{"$":{"credential":"token"}}}},"method":"POST","url":{"base":{"firstOf":[{"setting":"licenseURL"},"httpsURI"]}}}"#
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
        try expect(rule, comesBackIn: .textRule, as: spelling)
    }

    @Test func `every text rule's name is listed`() throws {
        let spelled = try Self.rules.map { spelling, _ in
            let value = try JSONSerialization.jsonObject(with: Data(spelling.utf8), options: .fragmentsAllowed)
            return (value as? [String: Any])?.keys.first ?? value as? String ?? ""
        }
        var problems: [JSONProblem] = []
        _ = JSONForm<TextRule>.textRule.read(.text(""), .root, &problems)
        let names = try #require(problems.first?.remedy.firstRange(of: "exactly one of ").map(\.upperBound))
        #expect(
            spelled.sorted()
                == problems.first?.remedy[names...].dropLast().split(separator: ", ").map(String.init).sorted())
        #expect(Set(spelled).count == spelled.count)
    }

    @Test(arguments: [#""wholeUri""#, #"{"Setting":"s"}"#, "{}", "3", #"{"base64":"nothing"}"#, #"{"host":1,"spc":2}"#])
    func `an unknown rule is an error, never another rule`(json: String) throws {
        #expect(try read(JSONForm<TextRule>.textRule, json) == nil)
    }

    @Test(
        arguments: [
            .stripQuery, .setQuery(name: "a", value: .host), .addQueryIfAbsent(name: "a", value: "b"),
            .copyKeyURIQuery(names: ["KID"]), .copyKeyURIQueryIfAbsent(names: ["KID"]), .appendPath(.contentID),
            .appendPathIfAbsent(.contentID), .useOrigin(.setting("o")),
        ] as [URLRule.Change])
    func `each URL change survives JSON`(change: URLRule.Change) throws {
        try expect(change, comesBackIn: .change)
    }

    @Test(arguments: [
        (#"{"name":"spc","value":"spc"}"#, BodyRule.Field("spc", .spc)),
        (#"{"escaping":"none","name":"spc","value":"spcURLSafe"}"#, .init("spc", .spcURLSafe, escaping: .none)),
    ])
    func `a field states only unusual values`(json: String, field: BodyRule.Field) throws {
        try expect(field, comesBackIn: BodyRule.Field.form.form, as: json)
    }

    @Test func `names alone are texts, and others objects`() throws {
        try expect(
            URLRule.Change.appendPathIfAbsent(.contentID), comesBackIn: .change,
            as: #"{"appendPathIfAbsent":"contentID"}"#)
        try expect(ErrorRules.ReplyField.knownCode, comesBackIn: .replyField, as: #""knownCode""#)
    }

    @Test(
        arguments: [
            .raw, .base64Text, .form([.init("a", .spc)]), .formWithKeyURIQuery([]), .json(["a": 1]),
            .multipart([.init("spc", .spc)]),
        ] as [BodyRule])
    func `each body survives JSON`(body: BodyRule) throws { try expect(body, comesBackIn: .body) }

    @Test(
        arguments: [
            .raw, .base64Text, .tagged, .json(["a.b"]), .jsonOr(["ckc"], .jsonOr(["x"], .raw)), .tolerant,
            .preferring(.json(["ckc"])),
        ] as [CKCDecoder])
    func `each CKC decoder survives JSON`(decoder: CKCDecoder) throws {
        try expect(decoder, comesBackIn: .ckcDecoder)
    }

    @Test(arguments: [.der, .base64Text, .json("a"), .sniff] as [CertificateDecoder])
    func `each certificate decoder survives JSON`(decoder: CertificateDecoder) throws {
        try expect(decoder, comesBackIn: .certificateDecoder)
        try expect(VendorProfile.CertificateRule.inline(setting: "c"), comesBackIn: .certificateRule)
        let request = RequestRule(url: URLRule(.httpsURI))
        try expect(
            VendorProfile.CertificateRule.inlineOrFetched(setting: "c", request, decoder), comesBackIn: .certificateRule
        )
    }

    @Test func `error rules leave out defaults`() throws {
        try expect(ErrorRules(), comesBackIn: ErrorRules.form.form, as: "{}")
        try expect(ErrorRulesTests.rules, comesBackIn: ErrorRules.form.form)
        try expect(Redaction(headers: ["b", "a"]), comesBackIn: Redaction.form.form, as: #"{"headers":["a","b"]}"#)
    }

    @Test func `the evidence survives JSON and is optional`() throws {
        let evidence = ProfileEvidence(.requestsAgree, read: "2026-11-22", "a recorded request")
        let json = #"{"level":"requestsAgree","read":"2026-11-22","source":"a recorded request"}"#
        try expect(evidence, comesBackIn: ProfileEvidence.form.form, as: json)
        #expect(try VendorProfile.form.decode(Array(Self.smallest.utf8), code: "").evidence == nil)
    }

    static let smallest = #"""
        {"identifier": "mine", "name": "Mine", "contentIdentifier": "lastPathComponent",
         "certificate": {"inline": "certificate"}, "decoder": {"jsonOr": {"paths": ["ckc"], "else": "tagged"}},
         "license": {"method": "POST", "url": {"base": "httpsURI"}, "body": {"form": [{"name": "spc", "value": "spc"}]}}}
        """#

    @Test func `a handwritten profile needs only its own values`() async throws {
        let profile = try VendorProfile.form.decode(Array(Self.smallest.utf8), code: "")
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
        (#"{"base": "httpsURI"}"#, #"{"base": {"setting": 1}}"#, "license.url.base.setting", "a text"),
        (#""value": "spc""#, #""value": {"query": "a", "host": "b"}"#, "license.body.form[0].value", "host, query"),
        (#""else": "tagged""#, #""else": "json""#, "decoder.jsonOr.else", "needs a parameter"),
        (#""name": "Mine","#, "", "name", "missing"), (#"{"jsonOr""#, #"{"jsonor""#, "decoder", "jsonor"),
    ])
    func `broken JSON is refused with place and name`(
        part: String, broken: String, place: String, name: String
    ) throws {
        let problems = VendorProfile.problems(inJSON: Data(Self.smallest.replacing(part, with: broken).utf8))
        #expect(problems.map(\.field) == [place])
        #expect(problems.first?.reason.contains(name) == true)
    }
}
