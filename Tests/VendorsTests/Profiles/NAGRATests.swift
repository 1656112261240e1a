import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/NAGRA.md`.
@Suite(.timeLimit(.minutes(5))) struct NAGRATests {
    static let key: KeyURI = """
        skd://eyJDb250ZW50SWQiOiJkZW1vLTEiLCJLZXlJZCI6IjAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMCIsIklWIjoiQUFBQUFBQUF\
        BQUFBQUFBQUFBQUFBQT09In0=?x=1
        """

    @Test(arguments: [
        (VendorProfile.nagra, "GET https://c.example/fps.cer"),
        (.nagraTheo, "GET https://c.example/fps.cer\nnv-authorizations: TOKEN"),
    ])
    func `the certificate comes without a token, or with it for THEOplayer`(
        profile: VendorProfile, expected: String
    ) async throws {
        #expect(try await ProfileWire(profile, key: Self.key).certificateRequest() == expected)
    }

    @Test func `the SPC names the key by the JSON that the key URI holds`() throws {
        let expected =
            #"{"ContentId":"demo-1","KeyId":"00000000-0000-0000-0000-000000000000","IV":"AAAAAAAAAAAAAAAAAAAAAA=="}"#
        #expect(try ProfileWire(.nagra, key: Self.key).contentIdentifier() == expected)
    }

    /// As `Examples/ConnectCustomerSSM.swift` reads its gateway's replies.
    @Test(arguments: [
        ("1003", Diagnosis.Kind.invalidRequest, Diagnosis.Kind.unauthenticated),
        ("4001", .unauthenticated, .serverTransient), ("77", .invalidRequest, .invalidRequest),
    ])
    func `an app that speaks to the services itself gets the meaning of a code from the profile`(
        _ code: String, _ license: Diagnosis.Kind, _ session: Diagnosis.Kind
    ) throws {
        let address = try #require(URL(string: "https://n.example"))
        let profile = ConfiguredVendor.nagra(certificate: address, license: address).profile
        let reply = HTTPReply(status: 400, body: Data(#"{"errorCode":\#(code),"message":"no"}"#.utf8))
        for (rules, kind) in [(profile.errors, license), (profile.sessionErrors, session)] {
            let error = #expect(throws: IntegrationError.self) { try rules.check(reply) }
            #expect(error?.kind == kind && error?.service?.code == code && error?.service?.message == "no")
        }
    }

    @Test func `a key URI that is no base64 is refused`() {
        let error = #expect(throws: IntegrationError.self) {
            try ProfileWire(.nagra, key: "skd://no.base64!").contentIdentifier()
        }
        #expect(error?.kind == .contentIdentifierMissing)
    }

    @Test(arguments: [([String: Secret](), "TOKEN"), (["sessionToken": Secret("SESSION")], "TOKEN,SESSION")])
    func `the license carries the content token and the session's`(
        session: [String: Secret], tokens: String
    ) async throws {
        var wire = ProfileWire(.nagra, key: Self.key, ["tenant": "TENANT"])
        wire.session = session
        let expected = """
            POST https://l.example/fps
            accept: application/json
            content-type: application/octet-stream
            nv-authorizations: \(tokens)
            nv-tenant-id: TENANT

            fbff0001
            """
        #expect(try await wire.licenseRequest() == expected)
    }

    @Test func `a renewal carries the session token alone`() async throws {
        var wire = ProfileWire(.nagra, key: Self.key, token: nil)
        wire.session = ["sessionToken": Secret("SESSION")]
        let expected = """
            POST https://l.example/fps?renew=true
            accept: application/json
            content-type: application/octet-stream
            nv-authorizations: SESSION

            fbff0001
            """
        #expect(try await wire.licenseRequest(.renewal) == expected)
    }

    @Test func `the header of the tokens may have another name, and is secret by it`() async throws {
        let wire = ProfileWire(.nagra, key: Self.key, ["tokenHeader": "X-Grant"])
        #expect(try await wire.licenseRequest().contains("\nx-grant: TOKEN\n"))
        #expect(wire.profile.redaction.isSecret(header: "x-grant"))
    }

    @Test(arguments: ["two words", "a\r\nb", "a:"])
    func `a setting that is no header's name is refused`(name: String) async {
        let wire = ProfileWire(.nagra, key: Self.key, ["tokenHeader": name])
        let error = await #expect(throws: IntegrationError.self) { try await wire.licenseRequest() }
        #expect(error?.kind == .invalidRequest)
    }

    @Test(arguments: [(#","sessionToken":"S-2""#, ["sessionToken": Secret("S-2")]), ("", [:])])
    func `the reply holds the CKC and perhaps a session token`(more: String, values: [String: Secret]) throws {
        let license = try ProfileWire(.nagra, key: Self.key).license(
            #"{"CkcMessage":"\#(ProfileWire.ckcText)"\#(more)}"#)
        #expect(license.ckc.revealed == ProfileWire.ckc)
        #expect(license.sideValues == values)
    }

    @Test(arguments: [
        (400, 1007, Diagnosis.Kind.concurrencyLimit), (400, 1000, .invalidRequest), (500, 1, .serverTransient),
    ])
    func `a refusal has a code and words`(status: Int, code: Int, kind: Diagnosis.Kind) {
        let error = ProfileWire(.nagra, key: Self.key).refusal(
            #"{"errorCode":\#(code),"message":"too many"}"#, status: status, [("x-correlation-id", "c-1")])
        #expect(error?.kind == kind)
        #expect(
            error?.service == ServiceReply(status: status, code: "\(code)", message: "too many", requestID: "c-1"))
    }
}
