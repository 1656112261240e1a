import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The bytes of `Documentation/Vendors/Latchkey.md`.
@Suite(.timeLimit(.minutes(5))) struct LatchkeyTests {
    private static let key: KeyURI = "skd://a%20movie/297f600f-1234-1234-b060-2ac13cc42585"

    private var wire: ProfileWire {
        var wire = ProfileWire(.latchkey, key: Self.key, token: "JWT")
        wire.profile = wire.profile.with([
            "certificateURL": "https://license.example/t/acme/certificate",
            "licenseURL": "https://license.example/t/acme/fairplay",
        ])
        return wire
    }

    @Test func `the SPC names the key by the whole key URI`() throws {
        #expect(try wire.contentIdentifier() == Self.key.raw)
    }

    @Test func `the certificate needs no credentials`() async throws {
        #expect(try await wire.certificateRequest() == "GET https://license.example/t/acme/certificate")
    }

    @Test(arguments: [(KeyPurpose.streaming, "stream"), (.renewal, "stream"), (.persistable, "download")])
    func `the request says what the key is for`(_ purpose: KeyPurpose, word: String) async throws {
        let expected = """
            POST https://license.example/t/acme/fairplay
            authorization: Bearer JWT
            content-type: application/json

            {"purpose":"\(word)","spc":"+/8AAQ=="}
            """
        #expect(try await wire.licenseRequest(purpose) == expected)
    }

    @Test func `the reply holds the CKC and the lease`() throws {
        let license = try wire.license(#"{"ckc":"\#(ProfileWire.ckcText)","lease":300,"renewAfter":240}"#)
        #expect(license.ckc.revealed == ProfileWire.ckc)
        #expect(license.terms?.lease == .seconds(300))
        #expect(try wire.license(#"{"ckc":"\#(ProfileWire.ckcText)"}"#).terms == nil)
    }

    @Test(arguments: [
        (401, "tokenRefused", Diagnosis.Kind.unauthenticated), (403, "tokenUsed", .unauthenticated),
        (401, "tokenNotYetValid", .notYetValid), (403, "notBegun", .notYetValid), (403, "ended", .forbidden),
        (403, "place", .regionDenied), (403, "sessionLimit", .concurrencyLimit), (429, "rateLimit", .rateLimited),
        (404, "unknownKey", .notFound), (403, "unknownTenant", .notFound), (503, "storeUnavailable", .serverTransient),
        (503, "overloaded", .serverTransient), (400, "malformedRequest", .invalidRequest), (403, "blocked", .forbidden),
    ])
    func `a refusal's code has its kind, and the server's words are told`(
        status: Int, code: String, kind: Diagnosis.Kind
    ) throws {
        let body =
            #"{"error":{"code":"\#(code)","message":"shown","reason":"The reason.","remedy":"Do.","requestId":"r-1"}}"#
        let error = #expect(throws: IntegrationError.self) { try wire.license(body, status: status) }
        #expect(error?.kind == kind)
        #expect(error?.service?.code == code)
        #expect(error?.service?.message == "The reason.")
    }

    @Test(arguments: [
        (SessionStep.heartbeat, "POST https://license.example/t/acme/sessions/heartbeat"),
        (.teardown, "DELETE https://license.example/t/acme/sessions"),
    ])
    func `heartbeat and end of a session are beside the license, with the slot's token`(
        step: SessionStep, line: String
    ) async throws {
        let context = SessionContext(session: ["heartbeatToken": Secret("SLOT")])
        let sent = try await wire.profile.unchecked.sessionRequest(step, context).sent
        #expect(sent == line + "\nauthorization: Bearer SLOT")
    }

    @Test(arguments: [
        (#","heartbeatToken":"SLOT","heartbeat":30"#, SessionReply(values: slot, period: .seconds(30))),
        (#","heartbeatToken":"SLOT""#, SessionReply(values: slot)),
        (#","heartbeatToken":"SLOT","heartbeat":-1"#, SessionReply(values: slot)),
        (#","heartbeatToken":"SLOT","heartbeat":1e300"#, SessionReply(values: slot)),
        (#","heartbeat":30"#, nil), ("", nil),
    ])
    func `a license with a slot's token opens the session`(members: String, session: SessionReply?) throws {
        let license = try wire.license(#"{"ckc":"\#(ProfileWire.ckcText)"\#(members)}"#)
        #expect(VendorProfile.latchkey.unchecked.sessionScope == .license)
        #expect(wire.profile.unchecked.session(openedBy: license) == session)
    }

    @Test(arguments: [
        (410, "sessionEnded", Diagnosis.Kind.notFound), (401, "heartbeatToken", .notFound),
        (403, "sessionStopped", .concurrencyLimit), (503, "storeUnavailable", .serverTransient),
    ])
    func `a refused heartbeat says whether another license helps`(status: Int, code: String, kind: Diagnosis.Kind) {
        let body = Data(#"{"error":{"code":"\#(code)","reason":"The reason."}}"#.utf8)
        let exchange = HTTPExchange(
            request: URLRequest(url: URL(filePath: "/")), reply: HTTPReply(status: status, body: body))
        let error = #expect(throws: IntegrationError.self) {
            try wire.profile.unchecked.session(from: exchange, .heartbeat)
        }
        #expect(error?.kind == kind)
    }

    @Test func `the slot's token is secret, and what a profile without a setup lacks is named`() throws {
        #expect(VendorProfile.latchkey.redaction.isSecret(field: "heartbeatToken"))
        var profile = VendorProfile.latchkey
        profile.sideValues["heartbeatToken"] = nil
        let flaws = profile.problems.map { "\($0)" }
        #expect(flaws.contains { $0.contains("session.setup") && $0.contains("heartbeatToken") })
    }

    private static let slot = ["heartbeatToken": Secret("SLOT")]
}
