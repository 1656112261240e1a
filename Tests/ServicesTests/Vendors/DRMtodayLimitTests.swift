import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyVendorWire
import Testing

/// Limits of rights. Sources: `Documentation/Vendors/DRMtoday.md`, rights.
@Suite(.timeLimit(.minutes(5))) struct DRMtodayLimitTests {
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    private func limits(_ right: String) throws -> DRMtodayRight.Limits {
        let claims: [String: JSONValue] = [
            "crt": .text("[\(right)]"), "optData": .text(#"{"merchant":"m"}"#), "jti": .text("1"),
        ]
        let text = JSONWebToken.text(claims: .object(claims), key: nil, algorithm: "HS512")
        let all = try DRMtodayToken(text, key: nil, date: Self.now).limits()
        return try #require(all.first).limits
    }

    @Test(
        arguments: [
            (#"{"digital":true,"analogue":true,"enforce":true}"#, .type0), (#"{"digital":true,"enforce":false}"#, nil),
            (#"{"digital":false,"analogue":true,"enforce":true}"#, nil), ("{}", nil),
        ] as [(String, HDCPRequirement?)])
    func `enforced digital protection needs HDCP`(_ rules: String, _ hdcp: HDCPRequirement?) throws {
        #expect(try limits(#"{"outputProtection":\#(rules)}"#).output.hdcp == hdcp)
    }

    @Test(
        arguments: [
            ("{}", false, nil), (#"{"profile":{"purchase":{}}}"#, true, nil),
            (#"{"profile":{"rental":{"absoluteExpiration":"2026-01-01T01:00:00Z"}}}"#, false, .rental(.seconds(3_600))),
            (
                #"{"profile":{"rental":{"absoluteExpiration":"2026-01-01T01:00:00Z"}}}"#, true,
                .persistentFor(.seconds(3_600))
            ),
            (#"{"profile":{"rental":{"playDuration":60500}}}"#, false, .lease(.seconds(60))),
            (
                #"{"profile":{"rental":{"absoluteExpiration":"2026-01-01T01:00:00.000Z","playDuration":60000}}}"#,
                false,
                .leaseAndRental(lease: .seconds(60), rental: .seconds(3_600))
            ),
            (
                #"{"profile":{"rental":{"absoluteExpiration":"2026-01-01T02:00:00+01:00","playDuration":60000}}}"#,
                true,
                .dualExpiry(storage: .seconds(3_600), playback: .seconds(60))
            ),
        ] as [(String, Bool, LicenseTerms.Validity?)])
    func `a rental starts before its end and runs its full time`(
        _ right: String, _ isStored: Bool, _ validity: LicenseTerms.Validity?
    ) throws {
        #expect(try limits(right).terms(isStored: isStored, at: Self.now)?.validity == validity)
    }

    @Test func `an expired rental is refused`() throws {
        let limits = try limits(#"{"profile":{"rental":{"absoluteExpiration":"2026-01-01T00:00:00Z"}}}"#)
        let refusal = try #require(
            #expect(throws: LicenseRefusal.self) { _ = try limits.terms(isStored: false, at: Self.now) })
        #expect(refusal.kind == .policy(.ended))
    }

    @Test(arguments: [
        (#"{"outputProtection":{"digital":1}}"#, "crt[0].outputProtection.digital"),
        (#"{"outputProtection":{"hdcp":"2.2"}}"#, "hdcp"), (#"{"outputProtection":true}"#, "crt[0].outputProtection"),
        (#"{"op":{"config":{}}}"#, "op"), (#"{"ref":["a"]}"#, "ref"), (#"{"profile":{"type":"purchase"}}"#, "type"),
        (#"{"profile":{"rental":{"relativeExpiration":"PT24H"}}}"#, "relativeExpiration"),
        (#"{"profile":{"rental":{"absoluteExpiration":"tomorrow"}}}"#, "absoluteExpiration"),
        (#"{"profile":{"rental":{"playDuration":"PT4H"}}}"#, "playDuration"),
        (#"{"profile":{"rental":{"playDuration":-1}}}"#, "playDuration"),
        (#"{"profile":{"rental":[]}}"#, "crt[0].profile.rental"), (#"{"profile":null}"#, "crt[0].profile"),
    ])
    func `an unknown rule is refused by its place`(_ right: String, _ place: String) throws {
        let refusal = try #require(#expect(throws: LicenseRefusal.self) { _ = try limits(right) })
        #expect(refusal.kind == .tokenMalformed)
        #expect(refusal.reason.contains(place))
    }

    @Test func `an excessive play time becomes the longest that a license states`() throws {
        let limits = try limits(#"{"profile":{"rental":{"playDuration":1e300}}}"#)
        #expect(limits.plays == .longest)
    }
}
