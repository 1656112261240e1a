import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

@Suite(.timeLimit(.minutes(5))) struct PolicySetTests {
    private func set(_ policies: [String: String]) throws -> PolicySet {
        try PolicySet(policies.mapValues { Data(#"{"version":1\#($0.isEmpty ? "" : ",")\#($0)}"#.utf8) })
    }

    @Test func `a policy overrides its base, member by member`() throws {
        let set = try set([
            "base": #""validity":{"type":"lease","lease":"5m","jitter":0.2},"devices":{"limit":5,"window":"7d"}"#,
            "live": #""extends":"base","validity":{"type":"unlimited"},"devices":{"limit":2}"#,
        ])
        let live = try #require(set["live"])
        #expect(live.validity.type == .unlimited)
        #expect(live.validity.jitter == 0.2)
        #expect(live.devices.limit == 2)
        #expect(live.devices.window == .seconds(7 * 86_400))
        #expect(live.extends == nil)
        #expect(live.name == "live")
        #expect(set.names == ["base", "live"])
    }

    @Test(arguments: [
        (["a": #""extends":"b""#], ["a:extends"]), (["a": #""extends":"a""#], ["a:extends"]),
        (["a": #""extends":"b""#, "b": #""extends":"a""#], ["a:extends", "b:extends"]),
        (["a": #""extends":"b""#, "b": #""extends":"c""#, "c": ""], ["a:extends"]),
        (["a": #""name":"b""#], ["a:name"]), (["a b": ""], ["a b:"]),
        (["a": #""extends":"b""#, "b": #""limits":1"#], ["b:limits"]),
        (["a": #""x":1"#, "b": #""y":1"#], ["a:x", "b:y"]),
        (
            ["a": #""extends":"b","download":{"allow":false}"#, "b": #""download":{"perTitle":1}"#],
            ["a:download.perTitle"]
        ),
    ])
    func `conflicts between policies are an error`(_ policies: [String: String], _ places: [String]) {
        let error = #expect(throws: JSONProblems.self) { try set(policies) }
        #expect(error?.places == places)
    }

    @Test func `a cycle, an unknown name and a second level are distinct`() {
        let texts = [
            ["a": #""extends":"b""#, "b": #""extends":"a""#], ["a": #""extends":"b""#],
            ["a": #""extends":"b""#, "b": #""extends":"c""#, "c": ""],
        ].map { policies in #expect(throws: JSONProblems.self) { try set(policies) }?.problems.first?.what }
        #expect(Set(texts).count == 3)
    }

    @Test func `key overrides content, and content overrides tenant`() throws {
        let set = try set([
            "tenant": #""limits":{"licensesPerMinute":1},"devices":{"limit":1},"stream":{"allow":true}"#,
            "content": #""devices":{"limit":2},"concurrency":{"limit":2}"#, "key": #""concurrency":{"limit":3}"#,
        ])
        var key = KeyFacts()
        (key.contentPolicies, key.policies) = (["content"], ["key"])
        let policy = try set.policy(for: key, tenant: "tenant")
        #expect(policy.limits.licensesPerMinute == 1)
        #expect(policy.devices.limit == 2)
        #expect(policy.concurrency.limit == 3)
        #expect(policy.name == "key")
        key.policies = ["kee"]
        let error = #expect(throws: Diagnosis.self) { try set.policy(for: key, tenant: "tenant") }
        #expect(error?.code == "policyUnknown")
        #expect(try set.policy(for: KeyFacts(), tenant: nil) == Policy())
    }

    @Test func `examples are decided, and a failed one is reported`() throws {
        let facts = #"{"now":"2026-06-01T00:00:00Z","request":{"country":"FR"}}"#
        let set = try set([
            "a": #"""
            "place":{"allow":["DE"]},"examples":[{"facts":\#(facts),"expect":"place"},{"facts":\#(facts),"expect":"license"},
            {"facts":{"now":"2026-06-01T00:00:00Z","key":{"policies":["gone"]}},"expect":"license"}]
            """#
        ])
        let problems = set.check()
        #expect(problems.map(\.place) == ["a:examples[1].expect", "a:examples[2].facts.key"])
        #expect(problems.first?.what.contains("not granted in FR") == true)
    }

    @Test func `file names in a folder are policy names`() throws {
        let folder = try TemporaryFolder()
        try Data(#"{"version":1}"#.utf8).write(to: folder.url.appendingPathComponent("base.json"))
        try Data(#"{"version":1,"extends":"base"}"#.utf8).write(to: folder.url.appendingPathComponent("live.json"))
        try Data("not JSON".utf8).write(to: folder.url.appendingPathComponent("README.md"))
        #expect(try PolicySet(folder: folder.url).names == ["base", "live"])
        try Data("{".utf8).write(to: folder.url.appendingPathComponent("broken.json"))
        try Data(count: 1_048_577).write(to: folder.url.appendingPathComponent("large.json"))
        let error = #expect(throws: JSONProblems.self) { try PolicySet(folder: folder.url) }
        #expect(error?.places == ["large:", "broken:"])
        #expect(throws: JSONProblems.self) { try PolicySet(folder: folder.url.appendingPathComponent("none")) }
    }
}
