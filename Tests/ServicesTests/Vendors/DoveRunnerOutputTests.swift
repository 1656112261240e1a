import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyVendorWire
import Testing

/// Rules by track.
///
/// Source: the vendor's License Token Guide, version 2, `security_policy`, `allowed_track_types` and `external_key`, at
/// https://github.com/daniel-inka/pallycon-docs-v3, 184b3b7, read on 2026-11-23.
@Suite(.timeLimit(.minutes(1))) struct DoveRunnerOutputTests {
    private func token(_ policy: String) throws -> DoveRunnerToken {
        let members = [
            "drm_type": "FairPlay", "site_id": "ABCD", "user_id": "u", "hash": "x", "timestamp": "2026-01-01T00:00:00Z",
            "policy": Data(policy.utf8).base64EncodedString(),
        ]
        let json = try JSONSerialization.data(withJSONObject: members)
        return try DoveRunnerToken(json.base64EncodedString(), key: nil)
    }

    private func outputs(_ entries: String) throws -> [TrackClass: VendorOutput] {
        try token(#"{"policy_version":2,"playback_policy":{},"security_policy":[\#(entries)]}"#).outputs()
    }

    @Test(
        arguments: [
            ("{}", nil, true, true), (#"{"hdcp_enforcement":-1}"#, .notRequired, true, true),
            (#"{"hdcp_enforcement":0,"allow_airplay":false,"allow_av_adapter":false}"#, .type0, false, false),
            (#"{"hdcp_enforcement":1,"allow_airplay":true}"#, .type1, true, true),
        ] as [(String, HDCPRequirement?, Bool, Bool)])
    func `an entry without a track type covers all tracks`(
        _ fairPlay: String, _ hdcp: HDCPRequirement?, _ airPlay: Bool, _ adapter: Bool
    ) throws {
        let outputs = try outputs(#"{"fairplay":\#(fairPlay),"widevine":{"security_level":5}}"#)
        #expect(Set(outputs.keys) == Set(TrackClass.allCases))
        for output in outputs.values {
            #expect(output.hdcp == hdcp)
            #expect(output.allowsAirPlay == airPlay && output.allowsAdapter == adapter)
        }
    }

    @Test func `each track has its own rules, and a key for all has the strictest`() throws {
        let outputs = try outputs(
            #"{"track_type":"SD","fairplay":{"hdcp_enforcement":-1}},{"track_type":"HD","fairplay":{"hdcp_enforcement":0,"#
                + #""allow_airplay":false}},{"track_type":"UHD1","fairplay":{"hdcp_enforcement":1}},{"track_type":"AUDIO"}"#
        )
        #expect(outputs[.sd]?.hdcp == .notRequired && outputs[.sd]?.allowsAirPlay == true)
        #expect(outputs[.hd]?.hdcp == .type0 && outputs[.hd]?.allowsAirPlay == false)
        #expect(outputs[.uhd1]?.hdcp == .type1)
        #expect(outputs[.uhd2] == nil && outputs[.audio] == nil)
        #expect(outputs[.all]?.hdcp == .type1 && outputs[.all]?.allowsAirPlay == false)
    }

    @Test func `entries for one track combine to the strictest`() throws {
        let outputs = try outputs(
            #"{"track_type":"HD","fairplay":{"hdcp_enforcement":1}},"#
                + #"{"track_type":"ALL_VIDEO","fairplay":{"hdcp_enforcement":0,"allow_av_adapter":false}}"#)
        #expect(outputs[.hd]?.hdcp == .type1 && outputs[.hd]?.allowsAdapter == false)
        #expect(outputs[.sd]?.hdcp == .type0)
        #expect(outputs[.audio] == nil)
    }

    @Test(arguments: [
        (#"{"track_type":"8K","fairplay":{}}"#, "security_policy[0].track_type"),
        (#"{"fairplay":{"hdcp_enforcement":2}}"#, "security_policy[0].fairplay.hdcp_enforcement"),
        (#"{"fairplay":{"hdcp_enforcement":0.5}}"#, "security_policy[0].fairplay.hdcp_enforcement"),
        (#"{"fairplay":{"allow_airplay":3}}"#, "allow_airplay"),
        (#"{},{"fairplay":{"allow_usb":false}}"#, "security_policy[1].fairplay"), (#"{"nintendo":{}}"#, "nintendo"),
        ("7", "security_policy[0]"), (#"{"fairplay":null}"#, "security_policy[0].fairplay"),
    ])
    func `an unknown rule is refused by its place`(_ entries: String, _ place: String) throws {
        let refusal = try #require(#expect(throws: LicenseRefusal.self) { _ = try outputs(entries) })
        #expect(refusal.kind == .tokenMalformed)
        #expect(refusal.reason.contains(place))
    }

    @Test func `a security policy must be an array, unlike in version 1`() throws {
        #expect(throws: LicenseRefusal.self) { _ = try token(#"{"security_policy":{"hardware_drm":true}}"#).outputs() }
        #expect(try token(#"{"policy_version":2}"#).outputs().isEmpty)
    }

    @Test(
        arguments: [
            ("ALL", TrackClass.allCases), ("SD_ONLY", [.audio, .sd]), ("SD_HD", [.audio, .sd, .hd]),
            ("SD_UHD1", [.audio, .sd, .hd, .uhd1]), ("SD_UHD2", TrackClass.allCases),
        ] as [(String, [TrackClass])])
    func `the allowed track types determine the licensed keys`(_ word: String, _ classes: [TrackClass]) throws {
        #expect(try token(#"{"playback_policy":{"allowed_track_types":"\#(word)"}}"#).tracks() == Set(classes))
    }

    @Test func `an unknown track type is refused, and a missing one is ignored`() throws {
        #expect(throws: LicenseRefusal.self) { _ = try token(#"{"allowed_track_types":"HD_ONLY"}"#).tracks() }
        #expect(throws: LicenseRefusal.self) { _ = try token(#"{"allowed_track_types":["ALL"]}"#).tracks() }
        #expect(try token("{}").tracks() == nil)
    }

    @Test(arguments: [
        #"{"hls_aes":[{"track_type":"SD","key":"00","iv":"00"}]}"#, #"{"hls_aes":{}}"#, #"{"hls_aes":[7]}"#, "[]",
        #"{"hls_aes":[{"key":"000102030405060708090a0b0c0d0e0f","iv":"000102030405060708090a0b0c0d0e0f"}]}"#,
        #"{"hls_aes":[{"track_type":"SD","key":"000102030405060708090a0b0c0d0e0f"}]}"#,
        #"{"hls_aes":[{"track_type":"SD","key":"000102030405060708090a0b0c0d0e0g","iv":"000102030405060708090a0b0c0d0e0f"}]}"#,
    ])
    func `keys in another form than documented are refused`(_ external: String) throws {
        let token = try token(#"{"policy_version":2,"external_key":\#(external)}"#)
        let refusal = try #require(#expect(throws: LicenseRefusal.self) { _ = try token.externalKeys() })
        #expect(refusal.kind == .tokenMalformed)
        #expect(!refusal.reason.contains("0a0b0c"))
    }
}
