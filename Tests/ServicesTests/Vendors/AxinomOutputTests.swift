import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyVendorWire
import Testing

/// Usage policies of keys. Source: docs.axinom.com, entitlement message, content key usage policies, read on 2026-11-23.
@Suite(.timeLimit(.minutes(1))) struct AxinomOutputTests {
    private static let one = "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"
    private static let other = "f1e2d3c4-b5a6-9788-7766-554433221100"

    private func outputs(_ inline: String, _ policies: String) throws -> [KeyID: VendorOutput] {
        let token = jwt(
            #"{"version":1,"com_key_id":"69e54088-e9e0-4530-8c1a-1eb6dcd0d14e","message":{"type":"entitlement_message","version":2,"#
                + #""content_keys_source":{"inline":[\#(inline)]},"content_key_usage_policies":\#(policies)}}"#)
        return try AxinomMessage(token, key: nil, communicationKeyID: nil, date: Date()).outputs()
    }

    private func output(_ fairPlay: String) throws -> VendorOutput? {
        let policy =
            #"[{"name":"a","widevine":{"hdcp":"2.0"},"playready":{"analog_video_opl":100},"fairplay":\#(fairPlay)}]"#
        return try outputs(#"{"id":"\#(Self.one)","usage_policy":"a"}"#, policy).values.first
    }

    @Test(
        arguments: [
            ("{}", nil, true, true), (#"{"hdcp":"NONE"}"#, .notRequired, true, true),
            (#"{"hdcp":"TYPE0"}"#, .type0, true, true),
            (#"{"hdcp":"TYPE1"}"#, .type1, true, true), (#"{"hdcp":"TYPE1_STRICT"}"#, .type1, true, true),
            (#"{"hdcp":"TYPE0","allow_airplay":true,"allow_av_adapter":true}"#, .type0, true, true),
            (#"{"allow_airplay":false}"#, nil, false, true), (#"{"allow_av_adapter":"false"}"#, nil, true, false),
        ] as [(String, HDCPRequirement?, Bool, Bool)])
    func `a key has the rules of its named policy`(
        _ fairPlay: String, _ hdcp: HDCPRequirement?, _ airPlay: Bool, _ adapter: Bool
    ) throws {
        let output = try #require(try output(fairPlay))
        #expect(output.hdcp == hdcp)
        #expect(output.allowsAirPlay == airPlay && output.allowsAdapter == adapter)
    }

    @Test func `each key has its own policy, and a policy without a key is ignored`() throws {
        let outputs = try outputs(
            #"{"id":"\#(Self.one)","usage_policy":"hd"},{"id":"\#(Self.other)"}"#,
            #"[{"name":"hd","fairplay":{"hdcp":"TYPE1"}},{"name":"hd2","fairplay":{"hdcp":"x"}},{"name":"hd2"},7]"#)
        #expect(outputs.count == 1)
        #expect(KeyID(Self.one).flatMap { outputs[$0] }?.hdcp == .type1)
    }

    @Test func `a repeated key has the stricter of both policies`() throws {
        let outputs = try outputs(
            #"{"id":"\#(Self.one)","usage_policy":"a"},{"id":"\#(Self.one.uppercased())","usage_policy":"b"}"#,
            #"[{"name":"a","fairplay":{"hdcp":"TYPE1"}},{"name":"b","fairplay":{"hdcp":"NONE","allow_airplay":false}}]"#
        )
        let output = try #require(outputs.values.first)
        #expect(output.hdcp == .type1 && !output.allowsAirPlay && output.allowsAdapter)
    }

    @Test(arguments: [
        (#"{"hdcp":"TYPE2"}"#, "content_key_usage_policies[0].fairplay.hdcp"),
        (#"{"hdcp":0}"#, "content_key_usage_policies[0].fairplay.hdcp"),
        (#"{"allow_airplay":"maybe"}"#, "content_key_usage_policies[0].fairplay.allow_airplay"),
        (#"{"allow_av_adapter":null}"#, "content_key_usage_policies[0].fairplay.allow_av_adapter"),
        (#"{"min_security_level":"Main"}"#, "min_security_level"), ("[]", "content_key_usage_policies[0].fairplay"),
    ])
    func `an unknown rule is refused by its place`(_ fairPlay: String, _ place: String) throws {
        let refusal = try #require(#expect(throws: LicenseRefusal.self) { _ = try output(fairPlay) })
        #expect(refusal.kind == .tokenMalformed)
        #expect(refusal.reason.contains(place))
    }

    @Test(arguments: [
        (#""b""#, #"[{"name":"a"}]"#), (#""a""#, #"[{"name":"a"},{"name":"a"}]"#), (#""a""#, "{}"),
        ("1", #"[{"name":"a"}]"#),
        (#""a""#, #"[{"name":"a","device_compatibility":{}}]"#), (#""""#, "[7]"), ("null", "null"),
    ])
    func `a name needs one policy without unknown members`(_ name: String, _ policies: String) throws {
        #expect(throws: LicenseRefusal.self) {
            _ = try outputs(#"{"id":"\#(Self.one)","usage_policy":\#(name)}"#, policies)
        }
    }
}
