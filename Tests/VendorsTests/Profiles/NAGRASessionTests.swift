import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The bytes of `Documentation/Vendors/NAGRA.md` §2.
@Suite(.timeLimit(.minutes(5))) struct NAGRASessionTests {
    static let base = "https://demo-ssm.anycast.nagra.com/DEMO/ssm/v1"

    @Test(arguments: [
        (SessionStep.setup, "setup", "TOKEN"), (.heartbeat, "heartbeat", "SESSION"), (.teardown, "teardown", "SESSION"),
    ])
    func `each step is a POST of an empty object with one token`(step: SessionStep, path: String, token: String)
        async throws
    {
        let expected = """
            POST https://demo-ssm.anycast.nagra.com/DEMO/ssm/v1/sessions/\(path)
            accept: application/json
            content-type: application/json; charset=utf-8
            nv-authorizations: \(token)

            {}
            """
        #expect(try await Self.sent(step) == expected)
    }

    @Test(arguments: ["/v1", "/v1/", "", "/"])
    func `the address may end in v1 and a slash, or not`(end: String) async throws {
        let address = "https://demo-ssm.anycast.nagra.com/DEMO/ssm" + end
        #expect(try await Self.sent(.setup, address).hasPrefix("POST \(Self.base)/sessions/setup\n"))
    }

    @Test func `there is a session where its address is given`() {
        #expect(VendorProfile.nagra.unchecked.sessionScope == .never)
        #expect(VendorProfile.nagra.setting("sessionURL", to: "").unchecked.sessionScope == .never)
        #expect(VendorProfile.nagra.setting("sessionURL", to: Self.base).unchecked.sessionScope == .source)
        #expect(VendorProfile.nagraTheo.setting("sessionURL", to: Self.base).unchecked.sessionScope == .source)
        #expect(VendorProfile.all.allSatisfy { $0.unchecked.sessionScope != .source })
    }

    @Test func `the tokens' header may have another name, and a setup needs the content token`() async throws {
        #expect(try await Self.sent(.heartbeat, more: ["tokenHeader": "X-Grant"]).contains("\nx-grant: SESSION\n"))
        let error = await #expect(throws: IntegrationError.self) { try await Self.sent(.setup, token: nil) }
        #expect(error?.kind == .missingCredential)
        #expect(try await Self.sent(.teardown, token: nil).contains("SESSION"))
    }

    @Test(arguments: [("30", 30_000), ("0.5", 1_000), ("2.5", 2_500)])
    func `a setup's reply holds the session token and the heartbeat's seconds`(number: String, milliseconds: Int) throws
    {
        let reply = try Self.reply(.setup, #"{"sessionToken":"S-1","heartbeat":\#(number)}"#)
        #expect(reply == SessionReply(values: ["sessionToken": Secret("S-1")], period: .milliseconds(milliseconds)))
    }

    @Test(arguments: [
        (#"{"sessionToken":"S-1"}"#, "\"heartbeat\""), (#"{"sessionToken":"S-1","heartbeat":0}"#, "\"heartbeat\""),
        (#"{"sessionToken":"S-1","heartbeat":-5}"#, "\"heartbeat\""),
        (#"{"sessionToken":"S-1","heartbeat":"30"}"#, "\"heartbeat\""),
        (#"{"sessionToken":"S-1","heartbeat":true}"#, "\"heartbeat\""),
        (#"{"sessionToken":"S-1","heartbeat":1e300}"#, "\"heartbeat\""),
        (#"{"heartbeat":30}"#, "\"sessionToken\""), (#"{"sessionToken":"","heartbeat":30}"#, "\"sessionToken\""),
        ("<html>", "an HTML page"), ("", "empty"),
    ])
    func `a setup's reply without one of them is malformed`(body: String, named: String) {
        let error = #expect(throws: IntegrationError.self) { try Self.reply(.setup, body) }
        #expect(error?.kind == .sessionMalformed && error?.reason.contains(named) == true)
        #expect(error?.isRetryable == false && error?.service?.status == 200)
    }

    @Test func `a heartbeat's reply replaces the token where it has one, and a teardown's is ignored`() throws {
        #expect(try Self.reply(.heartbeat, #"{"sessionToken":"S-2"}"#).values == ["sessionToken": Secret("S-2")])
        #expect(try Self.reply(.heartbeat, "{}").values.isEmpty)
        #expect(try Self.reply(.teardown, #"{"sessionToken":"S-3"}"#) == SessionReply())
        #expect(try Self.reply(.teardown, "bye") == SessionReply())
    }

    @Test(arguments: SessionStep.allCases)
    func `1007 says that there are too many sessions`(step: SessionStep) {
        let body = #"{"errorCode":1007,"message":"too many"}"#
        let error = #expect(throws: IntegrationError.self) { try Self.reply(step, body, status: 400) }
        #expect(error?.kind == .concurrencyLimit && error?.service?.code == "1007")
        #expect(error?.remedy == "Stop another stream of this account and try again.")
    }

    @Test func `a session token in the license's reply says that renewals keep the session alive`() throws {
        let plain = try Self.license("")
        let enforced = try Self.license(#","sessionToken":"S-1""#)
        #expect(VendorProfile.nagra.unchecked.sessionRenewal(after: plain) == .heartbeat)
        #expect(VendorProfile.nagra.unchecked.sessionRenewal(after: enforced) == .enforced)
        #expect(VendorProfile.vuDRM.unchecked.sessionRenewal(after: enforced) == .heartbeat)
    }

    @Test func `the header of the session's token is secret by any name`() {
        let profile = VendorProfile.nagra.with(["sessionURL": Self.base, "tokenHeader": "X-Grant"])
        #expect(profile.redaction.isSecret(header: "x-grant"))
    }

    @Test func `a session rule comes back from JSON`() throws {
        let profile = VendorProfile.nagra.setting("sessionURL", to: Self.base)
        let copy = try JSONDecoder().decode(VendorProfile.self, from: JSONEncoder().encode(profile))
        #expect(copy.session == profile.session && copy.session != nil && copy.unchecked.sessionScope == .source)
    }

    private static func profile(_ address: String = base, _ more: [String: String] = [:]) -> VendorProfile {
        VendorProfile.nagra.setting("sessionURL", to: address).with(more)
    }

    private static func sent(
        _ step: SessionStep, _ address: String = base, token: String? = "TOKEN", more: [String: String] = [:]
    ) async throws -> String {
        let session = step == .setup ? [:] : ["sessionToken": Secret("SESSION")]
        let context = SessionContext(session: session) { token.map { .token($0) } ?? .none }
        return try await profile(address, more).unchecked.sessionRequest(step, context).sent
    }

    private static func reply(_ step: SessionStep, _ body: String, status: Int = 200) throws -> SessionReply {
        let exchange = HTTPExchange(
            request: URLRequest(url: URL(filePath: "/")), reply: HTTPReply(status: status, body: Data(body.utf8)))
        return try profile().unchecked.session(from: exchange, step)
    }

    private static func license(_ more: String) throws -> License {
        try ProfileWire(.nagra, key: NAGRATests.key).license(#"{"CkcMessage":"\#(ProfileWire.ckcText)"\#(more)}"#)
    }
}
