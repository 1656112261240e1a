import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

@Suite(.timeLimit(.minutes(5))) struct DecisionRecordTests {
    private let facts = """
        {"now":"2026-11-22T15:00:00.250Z",
         "request":{"tenant":"demo","drm":"fairPlay","purpose":"stream","playback":"readyToStart","session":"00000000000000ff",
          "destination":"airPlay","capabilities":["hdcpEnforcement","offlineKey"],"protocolVersion":1,"device":"d1",
          "address":"::ffff:192.0.2.7","country":"DE","countrySource":"database","anonymized":false,"userAgent":"x","stop":["1z"]},
         "grant":{"account":"anna","profile":"kid","session":"s","tokenID":"t","issued":"2026-11-22T14:59:00Z",
          "expires":"2026-11-22T15:09:00Z","address":"192.0.2.0","device":"tv","label":"TV","contents":["movie"],
          "keys":["00112233445566778899aabbccddeeff"],"policy":{"stream":{"allow":true}}},
         "key":{"id":"00112233-4455-6677-8899-aabbccddeeff","content":"movie","track":"UHD1","contentPolicies":["a"],"policies":["b"]},
         "account":{"slots":[{"session":"a","device":"d","label":"l","profile":"p","content":"c","tracks":["HD"],"fence":71,
           "started":"2026-11-22T14:00:00Z","ends":"2026-11-22T16:00:00Z"}],
          "stopped":[{"session":"b","by":"TV","at":"2026-11-22T14:00:00Z"}],"devices":{"d2":"2026-11-01T00:00:00Z"},
          "downloads":[{"content":"c","device":"d"}],"minute":{"began":"2026-11-22T15:00:00Z","licenses":3},
          "tokenUse":{"session":"s","first":"2026-11-22T15:00:00Z"},"firstPlays":{"movie":"2026-11-20T15:00:00Z"},"outages":["geo"]}}
        """

    @Test func `facts with every member are read and written back`() throws {
        let read = try Facts(json: Data(facts.utf8))
        #expect(try Facts(json: read.canonicalJSON) == read)
        #expect(read.request.session == PlaybackSessionID(rawValue: 255))
        #expect(read.request.capabilities == [.hdcpEnforcement, .offlineKey])
        #expect(read.account.slots.first?.fence == 71)
        #expect(read.grant.policy.stream.allow == true)
        let written = try JSONReader.value(of: read.canonicalJSON)
        let given = try JSONReader.value(of: Data(facts.utf8))
        for section in ["request", "grant", "key", "account"] {
            guard case .object(let members)? = given[section] else { throw JSONProblems(code: section, problems: []) }
            // Members with their default are left out.
            let usual: Set = ["drm", "purpose"]
            let missing = Set(members.keys.filter { written[section]?[$0] == nil })
            #expect(missing.isSubset(of: usual), "\(section)")
        }
    }

    @Test(arguments: [
        ("{}", ["now"]), (#"{"now":"2026-11-22 15:00:00Z"}"#, ["now"]),
        (
            #"{"now":"2026-11-22T15:00:00Z","request":{"playback":"paused","session":"1","country":"Germany","x":1}}"#,
            ["request.playback", "request.session", "request.country", "request.x"]
        ),
        (
            #"{"now":"2026-11-22T15:00:00Z","account":{"slots":[{"session":"a"}],"devices":{"d":1}}}"#,
            ["account.slots[0].fence", "account.slots[0].started", "account.slots[0].ends", "account.devices.d"]
        ),
        (
            #"{"now":"2026-11-22T15:00:00Z","grant":{"policy":{"stream":{"allow":1}}},"key":{"track":"4K","id":"1"}}"#,
            ["grant.policy.stream.allow", "key.id", "key.track"]
        ),
    ])
    func `impossible facts are errors with their places`(_ json: String, _ places: [String]) {
        let error = #expect(throws: JSONProblems.self) { try Facts(json: Data(json.utf8)) }
        #expect(error?.places == places)
        #expect(error?.code == "factsInvalid")
    }

    @Test(arguments: 0..<200) func `damaged facts are refused or read, and never end the process`(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        var bytes = Array(facts.utf8)
        for _ in 0..<4 {
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...127, using: &generator)
        }
        do {
            let read = try Facts(json: Data(bytes))
            #expect(decide(read, by: Policy()).word.isEmpty == false)
        } catch {
            #expect(error.problems.isEmpty == false)
            #expect(error.description.unicodeScalars.contains { $0.value < 0x20 } == false)
        }
    }

    @Test func `a record says by which policy, what and why, and shows a changed policy`() throws {
        let policy = try Scene.policy(#""name":"live","place":{"allow":["AT"]}"#)
        let (record, decision) = DecisionRecord.deciding(Scene.facts(), by: policy, requestID: "r-1")
        #expect(decision.word == "place")
        #expect(record.policyDigest == policy.digest)
        let text = String(decoding: record.canonicalJSON, as: UTF8.self)
        #expect(text.contains(#""policyName":"live""#))
        #expect(text.contains("not granted in DE"))
        #expect(record.decidedAgain(by: policy).record == record)
        let changed = record.decidedAgain(by: try Scene.policy(#""name":"live","place":{"allow":["DE"]}"#))
        #expect(changed.record.word == "license")
        #expect(changed.record.policyDigest != record.policyDigest)
    }

    @Test func `dates outside any calendar are still decided`() {
        for now in [
            Date.distantPast, .distantFuture, Date(timeIntervalSince1970: 1e300), Date(timeIntervalSince1970: -1e300),
            Date(timeIntervalSince1970: .nan),
        ] {
            var facts = Scene.facts()
            facts.now = now
            #expect(!DecisionRecord.deciding(facts, by: Policy()).record.word.isEmpty)
        }
    }
}
