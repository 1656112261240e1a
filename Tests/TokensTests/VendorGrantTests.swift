import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyLicensing

@Suite(.timeLimit(.minutes(1))) struct VendorGrantTests {
    @Test func `a token without a viewer is a separate account`() {
        var grant = VendorGrant(tokenID: "t-1")
        #expect(grant.grant.account == "t-1")
        grant.session = "s-1"
        #expect(grant.grant.account == "s-1")
        grant.account = "ann"
        #expect(grant.grant.account == "ann")
    }

    @Test func `terms narrow a policy, and storage narrows downloads`() {
        var grant = VendorGrant(tokenID: "t-1")
        grant.terms = LicenseTerms(.lease(.seconds(60)))
        #expect(grant.grant.policy.validity.type == .lease(.seconds(60)))
        grant.terms = LicenseTerms(.dualExpiry(storage: .seconds(600), playback: .seconds(60)))
        #expect(grant.grant.policy.validity.type == nil)
        #expect(grant.grant.policy.download.storage == .seconds(600))
        #expect(grant.grant.policy.download.playback == .seconds(60))
    }

    @Test func `a use for one license leaves no time for another`() {
        var grant = VendorGrant(tokenID: "t-1")
        #expect(grant.grant.policy.token.singleUse == nil)
        grant.use = .session
        #expect(grant.grant.policy.token.singleUse == true && grant.grant.policy.token.reuse == nil)
        grant.use = .license
        #expect(grant.grant.policy.token.reuse == .zero)
    }

    @Test func `outputs and tracks narrow a policy, and never widen it`() throws {
        var grant = VendorGrant(tokenID: "t-1")
        #expect(grant.grant.policy == Policy())
        (grant.output.hdcp, grant.output.allowsAirPlay, grant.tracks) = (.type0, false, [.audio, .sd])
        let json =
            #"{"version":1,"output":{"hdcp":{"HD":"type1","SD":"notRequired"},"adapter":"refuse"},"tracks":{"allow":["SD","HD"]}}"#
        let policy = try Policy(json: Data(json.utf8))
        let narrowed = policy.narrowed(to: grant.grant.policy).policy
        #expect(narrowed.output.hdcp?[.hd] == .type1 && narrowed.output.hdcp?[.sd] == .type0)
        #expect(narrowed.output.airPlay == .refuse && narrowed.output.adapter == .refuse)
        #expect(narrowed.tracks.allow == [.sd])
        grant.output.hdcp = .notRequired
        let wide = policy.narrowed(to: grant.grant.policy).policy
        #expect(wide.output.hdcp?[.hd] == .type1 && wide.output.hdcp?[.uhd1] == nil)
    }

    @Test func `two outputs together have the stricter of each rule`() {
        var (one, other) = (VendorOutput(), VendorOutput())
        (one.hdcp, one.allowsAirPlay) = (.notRequired, false)
        #expect(one.joined(with: other) == one && other.joined(with: one) == one)
        (other.hdcp, other.allowsAdapter) = (.type0, false)
        let joined = one.joined(with: other)
        #expect(joined.hdcp == .type0 && !joined.allowsAirPlay && !joined.allowsAdapter)
    }

    @Test func `a tenant's vendors are read, and their faults are reported by place`() throws {
        let json =
            #"{"vendors":{"vudrm":{"client":"acme","secret":"f"},"doverunner":{"site":"ABCDE","accessKey":"a"}}}"#
        var problems: [JSONProblem] = []
        _ = TenantSettings.form.form.read(try #require(JSONValue(Data(json.utf8))), .root, &problems)
        #expect(problems.map { "\($0.place)" }.sorted() == ["vendors.doverunner.site", "vendors.doverunner.siteKey"])
    }
}
