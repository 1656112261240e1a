import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

@Suite(.timeLimit(.minutes(5))) struct PolicyFormTests {
    /// The policy of the documentation, with every section.
    static let whole = """
        {"version":1,"name":"premium-live","extends":"standard",
         "validity":{"type":"lease","lease":"5m","renewAt":0.8,"jitter":0.1,"begin":"2026-01-01T00:00:00Z",
          "end":"2027-01-01T00:00:00Z","afterFirstPlay":"48h"},
         "stream":{"allow":true},
         "download":{"allow":true,"storage":"30d","playback":"48h","renew":false,"perTitle":3,"perAccount":9},
         "tracks":{"allow":["AUDIO","SD","HD"],"otherwise":"refuse"},
         "output":{"hdcp":{"SD":"type0","HD":"type0","UHD":"type1"},"airPlay":"allow","adapter":"lease:2m"},
         "client":{"requires":["hdcpEnforcement"],"protocolVersions":[1,2]},
         "devices":{"limit":5,"window":"30d","allow":["d1"]},
         "concurrency":{"scope":"account","limit":3,"mode":"refuseNewest","grace":"20s","heartbeat":"30s",
          "perClass":{"UHD":1}},
         "place":{"allow":["DE","AT"],"deny":["FR"],"whenUnknown":"refuse","trust":"header","anonymizers":"refuse",
          "addresses":["192.0.2.0/24"],"denyAddresses":["2001:db8::/32"]},
         "token":{"singleUse":true,"reuse":"90s","maxAge":"10m","bindIP":false,"mayWiden":["download.allow"]},
         "blocked":{"users":["u"],"devices":["d"],"tokens":["t"],"contents":["c"]},
         "limits":{"licensesPerMinute":60},
         "outage":{"sessionStore":"allow:2m","tokenStore":"allow","geo":"allow","callout":"refuse"},
         "messages":{"concurrency":"streams-in-use","place":"not-in-your-country"},
         "examples":[{"facts":{"now":"2026-06-01T00:00:00Z"},"expect":"place"}]}
        """

    @Test func `every member of a policy is read and written back`() throws {
        let policy = try Policy(json: Data(Self.whole.utf8))
        let again = try Policy(json: policy.canonicalJSON)
        #expect(again == policy)
        #expect(again.digest == policy.digest)
        #expect(policy.digest.count == 64)
        #expect(policy.validity.type == .lease(.seconds(300)))
        #expect(policy.output.hdcp?[.uhd2] == .type1)
        #expect(policy.outage.sessionStore == .allowFor(.seconds(120)))
        let stated = Mirror(reflecting: policy).children.filter { "\($0.value)" == "nil" }
        #expect(stated.isEmpty)
    }

    @Test func `each member of the table is in the policy that has all`() throws {
        let json = try JSONReader.value(of: Data(Self.whole.utf8))
        for path in Policy.rules.paths {
            let parts = path.split(separator: ".").map(String.init)
            let value = parts.reduce(Optional(json)) { value, part in value.flatMap { $0[part] } }
            #expect(value != nil, "\(path)")
        }
    }

    @Test(arguments: [
        #""type":"unlimited""#, #""type":"lease","lease":"90s""#, #""type":"rental","rental":"2d""#,
        #""type":"leaseAndRental","lease":"5m","rental":"2h""#, #""type":"persistent""#,
        #""type":"persistentFor","storage":"30d""#, #""type":"dualExpiry","storage":"30d","playback":"48h""#,
    ])
    func `each kind of validity is read and written`(_ validity: String) throws {
        let policy = try Scene.policy(#""validity":{\#(validity)}"#)
        #expect(policy.validity.type != nil)
        #expect(try Policy(json: policy.canonicalJSON) == policy)
    }

    @Test(arguments: [
        (#""valdity":{}"#, "valdity"), (#""validity":{"type":"lease"}"#, "validity.lease"),
        (#""validity":{"lease":"5m"}"#, "validity.type"), (#""validity":{"type":"leese"}"#, "validity.type"),
        (#""validity":{"type":"unlimited","lease":"5m"}"#, "validity.lease"),
        (#""validity":{"type":"lease","lease":"0s"}"#, "validity.lease"),
        (#""validity":{"type":"lease","lease":300}"#, "validity.lease"),
        (#""validity":{"renewAt":1.5}"#, "validity.renewAt"), (#""validity":{"jitter":"0.1"}"#, "validity.jitter"),
        (#""validity":{"begin":"2026-02-30T00:00:00Z"}"#, "validity.begin"),
        (#""validity":{"begin":"2026-02-02T00:00:00Z","end":"2026-02-01T00:00:00Z"}"#, "validity.end"),
        (#""validity":{"afterFirstPlay":"-1s"}"#, "validity.afterFirstPlay"),
        (#""stream":{"allow":"yes"}"#, "stream.allow"), (#""download":{"perTitle":0}"#, "download.perTitle"),
        (#""download":{"perTitle":1.5}"#, "download.perTitle"), (#""download":[]"#, "download"),
        (#""download":{"allow":false,"storage":"30d"}"#, "download.storage"),
        (#""tracks":{"allow":[]}"#, "tracks.allow"), (#""tracks":{"allow":["SD","4K"]}"#, "tracks.allow[1]"),
        (#""tracks":{"otherwise":"maybe"}"#, "tracks.otherwise"),
        (#""output":{"hdcp":{"SD":"type2"}}"#, "output.hdcp.SD"),
        (#""output":{"hdcp":{"4K":"type0"}}"#, "output.hdcp.4K"),
        (#""output":{"airPlay":"lease:0s"}"#, "output.airPlay"), (#""output":{"adapter":"no"}"#, "output.adapter"),
        (#""client":{"requires":["magic"]}"#, "client.requires[0]"),
        (#""client":{"protocolVersions":[]}"#, "client.protocolVersions"),
        (#""devices":{"limit":-1}"#, "devices.limit"), (#""devices":{"window":"1w"}"#, "devices.window"),
        (#""devices":{"allow":[""]}"#, "devices.allow[0]"),
        (#""concurrency":{"scope":"house"}"#, "concurrency.scope"),
        (#""concurrency":{"limit":101}"#, "concurrency.limit"),
        (#""concurrency":{"mode":"stopSameDevice"}"#, "concurrency.mode"),
        (#""concurrency":{"grace":"2h"}"#, "concurrency.grace"),
        (#""concurrency":{"heartbeat":"1s"}"#, "concurrency.heartbeat"),
        (#""concurrency":{"limit":2,"perClass":{"UHD":3}}"#, "concurrency.perClass.UHD"),
        (#""place":{"allow":["de"]}"#, "place.allow[0]"), (#""place":{"allow":["DE"],"deny":["DE"]}"#, "place.deny"),
        (#""place":{"addresses":["192.0.2.1/24"]}"#, "place.addresses[0]"),
        (#""place":{"whenUnknown":"ask"}"#, "place.whenUnknown"), (#""place":{"trust":"viewer"}"#, "place.trust"),
        (#""token":{"mayWiden":["download"]}"#, "token.mayWiden[0]"),
        (#""token":{"mayWiden":["token.mayWiden"]}"#, "token.mayWiden[0]"), (#""token":{"reuse":"2d"}"#, "token.reuse"),
        (#""blocked":{"users":"anna"}"#, "blocked.users"),
        (#""limits":{"licensesPerMinute":null}"#, "limits.licensesPerMinute"),
        (#""outage":{"sessionStore":"allow:"}"#, "outage.sessionStore"),
        (#""messages":{"weather":"x"}"#, "messages.weather"),
        (#""name":"a/b""#, "name"), (#""examples":[{"expect":"license"}]"#, "examples[0].facts"),
        (#""examples":[{"facts":{"now":"today"},"expect":"license"}]"#, "examples[0].facts.now"),
        (#""examples":[{"facts":{"now":"2026-06-01T00:00:00Z"},"expect":"maybe"}]"#, "examples[0].expect"),
    ])
    func `an invalid policy value is an error with its place`(_ members: String, _ place: String) throws {
        let error = #expect(throws: JSONProblems.self) { try Scene.policy(members) }
        #expect(error?.places == [place])
        #expect(error?.code == "policyInvalid")
        #expect(error?.problems.allSatisfy { !$0.what.isEmpty && $0.remedy.hasSuffix(".") } == true)
    }

    @Test func `all problems are reported`() {
        let error = #expect(throws: JSONProblems.self) {
            try Scene.policy(#""validity":{"type":"lease","jitter":2},"trakcs":{},"devices":{"limit":0,"x":1}"#)
        }
        #expect(error?.places == ["validity.lease", "validity.jitter", "devices.limit", "devices.x", "trakcs"])
        #expect(error?.reason.contains("devices.x: There is no such member.") == true)
    }

    @Test(arguments: ["[]", "{}", #"{"version":2}"#, #"{"version":"1"}"#, "", "{", "null"])
    func `only a policy of version 1 is accepted`(_ json: String) {
        #expect(throws: JSONProblems.self) { try Policy(json: Data(json.utf8)) }
    }

    @Test func `a duplicate member is an error with line and column`() {
        let error = #expect(throws: JSONProblems.self) {
            try Policy(json: Data("{\"version\":1,\n \"limits\":{},\"limits\":{}}".utf8))
        }
        #expect(error?.reason.contains("line 2, column 14") == true)
    }

    @Test func `a stranger's member name fits on one line`() {
        let error = #expect(throws: JSONProblems.self) { try Scene.policy(#""a\u001b[2J\n":1"#) }
        #expect(error?.description.unicodeScalars.contains { $0.value < 0x20 } == false)
    }

    @Test func `equal policies have one digest however they are written`() throws {
        let one = try Scene.policy(#""tracks":{"allow":["UHD","SD"]},"limits":{"licensesPerMinute":60}"#)
        let other = try Scene.policy(
            #""limits" : {"licensesPerMinute":6e1},"tracks":{"allow":["SD","UHD2","UHD1","SD"]},"stream":{}"#)
        #expect(one == other)
        #expect(one.digest == other.digest)
        #expect(one.digest != (try Scene.policy(#""tracks":{"allow":["SD"]}"#)).digest)
    }

    @Test(arguments: [
        ("90s", 90), ("5m", 300), ("2h", 7_200), ("30d", 2_592_000), ("4294967295s", 4_294_967_295), ("1s", 1),
    ])
    func `durations are numbers with a unit`(_ text: String, _ seconds: Int64) {
        #expect(DurationText.duration(text) == .seconds(seconds))
        #expect(DurationText.duration(DurationText.text(.seconds(seconds))) == .seconds(seconds))
    }

    @Test(arguments: ["", "s", "5", "5 m", "1.5h", "-1s", "+1s", "0x1s", "4294967296s", "99999999999d", "5M", "٥s"])
    func `no other text is a duration`(_ text: String) { #expect(DurationText.duration(text) == nil) }

    @Test(arguments: [
        ("192.0.2.0/24", "192.0.2.255", true), ("192.0.2.0/24", "192.0.3.0", false),
        ("192.0.2.4/30", "192.0.2.8", false),
        ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false),
        ("2001:db8::/33", "2001:db8:8000::", false),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("192.0.2.7", "::ffff:192.0.2.7", true),
    ])
    func `a range has its addresses`(_ range: String, _ address: String, _ isIn: Bool) throws {
        let range = try #require(AddressRange(range))
        #expect(range.contains(try #require(AddressRange(address))) == isIn)
        #expect(AddressRange(range.description) == range)
    }

    @Test(arguments: [
        "", "a", "192.0.2", "192.0.2.1/33", "192.0.2.1/", "192.0.2.1/-1", "192.0.2.1/24", "::1/129", "1.2.3.4/0x8",
    ])
    func `no other text is a range`(_ text: String) { #expect(AddressRange(text) == nil) }
}
