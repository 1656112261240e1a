import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensees

/// How a license's terms become members of a module's input.
@Suite(.timeLimit(.minutes(1))) struct MemberTemplateTests {
    private static let whole = #"""
        {"lease-duration": "{leaseSeconds}", "fixed": true, "rental": ["{rentalSeconds}"], "iv": "{iv}",
         "hdcp": {"{hdcp}": {"type0": 0, "type1": 1}},
         "offline": {"fixed": 1, "always": "{persistent}", "storage": "{storageSeconds}", "play": {"time": "{playbackSeconds}"}}}
        """#

    private func read(_ json: String) throws -> (template: MemberTemplate?, problems: [JSONProblem]) {
        var problems: [JSONProblem] = []
        let template = MemberTemplate.form.read(try #require(JSONValue(json.utf8)), .root, &problems)
        return (template, problems)
    }

    private func members(_ terms: LicenseTerms, of json: String) throws -> String {
        let template = try #require(read(json).template)
        let iv = Secret([UInt8](repeating: 0, count: 16))
        return JSONValue.object(try template.members(for: terms, iv: iv)).canonicalText
    }

    @Test(arguments: [
        (LicenseTerms(), #"{"fixed":true,"iv":"AAAAAAAAAAAAAAAAAAAAAA==","rental":[]}"#),
        (
            LicenseTerms(.lease(.milliseconds(89_500)), hdcp: .type0),
            #"{"fixed":true,"hdcp":0,"iv":"AAAAAAAAAAAAAAAAAAAAAA==","lease-duration":90,"rental":[]}"#
        ),
        (
            LicenseTerms(.leaseAndRental(lease: .seconds(1), rental: .seconds(2)), hdcp: .type1),
            #"{"fixed":true,"hdcp":1,"iv":"AAAAAAAAAAAAAAAAAAAAAA==","lease-duration":1,"rental":[2]}"#
        ),
        (
            LicenseTerms(.persistent),
            #"{"fixed":true,"iv":"AAAAAAAAAAAAAAAAAAAAAA==","offline":{"always":true,"fixed":1},"rental":[]}"#
        ),
        (
            LicenseTerms(.dualExpiry(storage: .seconds(3), playback: .seconds(4))),
            #"{"fixed":true,"iv":"AAAAAAAAAAAAAAAAAAAAAA==","offline":{"always":true,"fixed":1,"play":{"time":4},"storage":3},"rental":[]}"#
        ),
    ])
    func `a term is written where the template says, and a member without its term is left out`(
        _ terms: LicenseTerms, _ expected: String
    ) throws {
        #expect(try members(terms, of: Self.whole) == expected)
    }

    @Test func `the default template states a lease, for streaming`() throws {
        let members = try MemberTemplate.usual.members(for: LicenseTerms(.lease(.seconds(300))), iv: Secret([]))
        #expect(members == ["lease-duration": .number(300)])
    }

    @Test(arguments: [
        (LicenseTerms(.rental(.seconds(1))), "{}", "rentalSeconds"), (LicenseTerms(.persistent), "{}", "persistent"),
        (LicenseTerms(hdcp: .type1), #"{"lease-duration": "{leaseSeconds}"}"#, "hdcp"),
        (LicenseTerms(hdcp: .notRequired), whole, "hdcp notRequired"),
        (LicenseTerms(.persistentFor(.seconds(1))), #"{"x": "{persistent}"}"#, "storageSeconds"),
        (
            LicenseTerms(.dualExpiry(storage: .seconds(1), playback: .seconds(1))),
            #"{"x": "{persistent}", "y": "{storageSeconds}"}"#, "playbackSeconds"
        ),
    ])
    func `a term without a member is refused, never dropped`(_ terms: LicenseTerms, _ json: String, _ term: String)
        throws
    {
        let error = #expect(throws: ModuleFailure.self) { try members(terms, of: json) }
        #expect(error?.kind == .unmapped)
        #expect(error?.code == "moduleTermUnmapped")
        #expect(error?.reason.contains("states \(term),") == true)
    }

    @Test(arguments: [
        (#"{"x": "{leaseSecond}"}"#, "x"), (#"{"x": [{"{hdpc}": {}}]}"#, "x[0].{hdpc}"), (#"{"ck": "AA"}"#, "ck"),
        (#"{"id": 1}"#, "id"), ("[]", ""),
    ])
    func `an unknown placeholder and a member of the server's own are problems of the configuration`(
        _ json: String, _ place: String
    ) throws {
        #expect(try read(json).problems.map(\.place) == [place])
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080/fps", true), ("http://[::1]/fps", true), ("http://127.9.9.9", true),
        ("https://127.0.0.1/fps", false), ("http://localhost/fps", false), ("http://192.0.2.1/fps", false),
        ("http://127.0.0.1.example.com/", false), ("http://user@127.0.0.1/", false), ("127.0.0.1", false),
    ])
    func `a module's URL is on loopback`(_ url: String, _ isAccepted: Bool) {
        var problems: [JSONProblem] = []
        _ = LicenseeConfiguration.Module.form.read(.object(["url": .text(url)]), .root, &problems)
        #expect(problems.isEmpty == isAccepted)
    }

    @Test(arguments: [
        (#"{}"#, ""), (#"{"library": "a.so", "url": "http://127.0.0.1/"}"#, ""),
        (#"{"url": "http://127.0.0.1/", "workers": 1}"#, "workers"),
        (#"{"url": "http://127.0.0.1/", "credentials": "module"}"#, "credentials"),
    ])
    func `a module is either a library or a URL`(_ json: String, _ place: String) throws {
        var problems: [JSONProblem] = []
        _ = LicenseeConfiguration.Module.form.read(try #require(JSONValue(json.utf8)), .root, &problems)
        #expect(problems.map(\.place) == [place])
    }
}
