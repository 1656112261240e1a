import LatchkeyCore
import LatchkeyFairPlay
import Testing

@testable import LatchkeyDecision

/// Keys for a browser: only by policies that rely on nothing that the device does.
@Suite(.timeLimit(.minutes(1))) struct ClearKeyRuleTests {
    private func word(_ policy: String, drm: LicenseRequestFacts.DRM = .clearKey) throws -> String {
        try Scene.decision(policy) { $0.request.drm = drm }.word
    }

    @Test(arguments: [
        "", #""validity":{"type":"lease","lease":"5m"}"#, #""output":{"hdcp":{"HD":"notRequired"}}"#,
        #""validity":{"type":"persistent"},"download":{"allow":false}"#,
    ])
    func `a policy without HDCP and storage gives keys to a browser`(_ policy: String) throws {
        #expect(try word(policy) == "license")
    }

    @Test(arguments: [
        (#""output":{"hdcp":{"HD":"type0"}}"#, "output"), (#""output":{"hdcp":{"UHD1":"type1"}}"#, "output"),
        (#""download":{"allow":true}"#, "right"), (#""validity":{"type":"persistentFor","storage":"30d"}"#, "right"),
    ])
    func `a policy with HDCP or storage gives keys to a device, but not to a browser`(
        _ policy: String, _ code: String
    ) throws {
        #expect(try word(policy) == code)
        #expect(try word(policy, drm: .fairPlay) == "license")
    }

    @Test func `a token that requires less than the policy does not open it to browsers`() throws {
        let narrowing = try Scene.policy(#""output":{"hdcp":{"HD":"notRequired"}}"#)
        let decision = try Scene.decision(#""output":{"hdcp":{"HD":"type0"}}"#) { facts in
            facts.request.drm = .clearKey
            facts.grant.policy = narrowing
        }
        #expect(decision.word == "output")
    }
}
