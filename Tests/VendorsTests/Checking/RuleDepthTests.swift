import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

/// Nested rules: their cost grows with their number, and has a limit.
@Suite(.timeLimit(.minutes(5))) struct RuleDepthTests {
    private static func nested(_ depth: Int, _ rule: String, in name: String) -> String {
        String(repeating: "{\"\(name)\":[", count: depth) + rule + String(repeating: "]}", count: depth)
    }

    private func json(_ contentIdentifier: String) throws -> Data {
        let profile = String(decoding: try JSONEncoder().encode(VendorProfile.genericRaw), as: UTF8.self)
        let members = try JSONSerialization.jsonObject(with: Data(profile.utf8)) as? [String: Any] ?? [:]
        let rest = members.filter { $0.key != "contentIdentifier" }
        let text = String(decoding: try JSONSerialization.data(withJSONObject: rest), as: UTF8.self)
        return Data("{\"contentIdentifier\":\(contentIdentifier),\(text.dropFirst())".utf8)
    }

    @Test(arguments: [60, 254], ["firstOf", "all"])
    func `rules nested too deep are refused at their place`(depth: Int, name: String) throws {
        let problems = VendorProfile.problems(inJSON: try json(Self.nested(depth, #""host""#, in: name)))
        let problem = try #require(problems.first)
        #expect(problem.reason.hasPrefix("The JSON has more than 32 levels at line 1, column "))
        #expect(throws: ProfileError.self) {
            try VendorProfile(json: json(Self.nested(depth, #""host""#, in: name)))
        }
    }

    @Test(arguments: [60, 200])
    func `templates nested too deep are refused`(depth: Int) throws {
        let open = String(repeating: #"{"a":"#, count: depth)
        let text = #"{"json":\#(open)1\#(String(repeating: "}", count: depth))}"#
        let problems = VendorProfile.problems(inJSON: try json(text))
        #expect(problems.first?.reason.hasPrefix("The JSON has more than 32 levels at line 1, column ") == true)
    }

    @Test func `the deepest allowed rule is checked and evaluated`() throws {
        let deep = try json(Self.nested(14, #"{"firstOf":[{"setting":"contentId"},"host"]}"#, in: "firstOf"))
        let profile = try VendorProfile(json: deep)
        #expect(try profile.contentIdentifier(for: "skd://movie-1/x").text == "movie-1")
        #expect(profile.problems == [])
    }

    @Test(arguments: [60, 400])
    func `a rule of any depth built in code is evaluated and searched in time`(depth: Int) throws {
        var profile = VendorProfile.genericRaw
        var rule = TextRule.host
        for level in 0..<depth {
            rule = level.isMultiple(of: 2) ? .firstOf([.setting("contentId"), rule]) : .all([rule])
        }
        profile.contentIdentifierRule = rule
        #expect(try profile.contentIdentifier(for: "skd://movie-1").text == "movie-1")
        #expect(profile.problems == [])
        #expect(profile.missingSettings == ["certificateURL"])
    }

    @Test func `rules that keep growing a text eventually give nothing`() throws {
        var rule = TextRule.fixed(String(repeating: "a", count: 1_000))
        for _ in 0..<13 { rule = .all([rule, rule]) }
        var profile = VendorProfile.genericRaw
        profile.contentIdentifierRule = rule
        let error = #expect(throws: IntegrationError.self) { try profile.contentIdentifier(for: "skd://x") }
        #expect(error?.kind == .contentIdentifierMissing)
    }

    @Test func `a number in a body has digits, or an error names the setting`() async throws {
        var wire = ProfileWire(.expressPlayEntitlement, key: "skd://ent.example?cid=0a1b")
        wire.profile = wire.profile.setting("requestType", to: "2").setting("customerCookie", to: "viewer-1")
        let sent = try #require(try await wire.lookupRequest())
        #expect(
            sent.hasSuffix(
                #"{"contentID":"0a1b","customerCookie":"viewer-1","messageID":"MESSAGE-ID","requestType":2,"version":1}"#
            ))
        wire.profile = wire.profile.setting("requestType", to: "two")
        let wrong = wire
        let error = await #expect(throws: IntegrationError.self) { try await wrong.lookupRequest() }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.reason.contains("\"requestType\"") == true)
    }
}
