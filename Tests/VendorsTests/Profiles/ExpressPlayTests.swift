import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The bytes of `Documentation/Vendors/ExpressPlay.md`.
@Suite(.timeLimit(.minutes(5))) struct ExpressPlayTests {
    static let token: KeyURI = "skd://fp.service.expressplay.com:80/hms/fp/rights/?ExpressPlayToken=AQAA_-x"
    static let content: KeyURI = "skd://ent.example?cid=0a1b"

    private var entitlement: ProfileWire {
        ProfileWire(
            .expressPlayEntitlement, key: Self.content, ["entitlementURL": "https://ent.example/sees/SEESServlet"])
    }

    @Test func `the certificate ships with the app or comes from an address`() async throws {
        let shipped = ConfiguredVendor.expressPlay(certificate: ProfileWire.certificate)
        #expect(try shipped.bundledCertificate()?.bytes == ProfileWire.certificate)
        let wire = ProfileWire(.expressPlay, key: Self.token)
        #expect(try await wire.certificateRequest() == "GET https://c.example/fps.cer")
    }

    @Test func `the key URI is the token URL, its port kept as given`() async throws {
        let expected = """
            POST https://fp.service.expressplay.com:80/hms/fp/rights/?ExpressPlayToken=AQAA_-x
            content-type: application/octet-stream

            fbff0001
            """
        #expect(try await ProfileWire(.expressPlay, key: Self.token).licenseRequest() == expected)
        #expect(VendorProfile.expressPlay.redaction.isSecret(queryItem: "ExpressPlayToken"))
    }

    @Test(arguments: [
        (VendorProfile.expressPlay, "skd://one?cek=00&iv=00", "one"), (.expressPlay, "skd:movie-1", "movie-1"),
        (.expressPlay, "skd:https://fp.example/hms?ExpressPlayToken=A", "fp.example"),
        // The document's own key URI; the vendor's samples take the host of a URL, which has no port.
        (.expressPlay, token, "fp.service.expressplay.com"),
        (.expressPlayOnPremise, "skd://keys.example:8443/x", "keys.example"),
        (.expressPlayTokenServer, "skd://movie-1", "movie-1"),
        (.expressPlayTokenServer, "skd://k?cid=movie-2", "movie-2"),
        (.expressPlayEntitlement, "skd://ent.example?cid=0a1b", "0a1b"), (.expressPlayEntitlement, "skd:0a1b", "0a1b"),
        (.expressPlayOnPremise, "skd://movie-1/x", "movie-1"),
        (.expressPlayOnPremise, "skd://keys.example?cid=movie-2", "movie-2"),
    ])
    func `each way has its content id`(profile: VendorProfile, key: KeyURI, expected: String) throws {
        #expect(try ProfileWire(profile, key: key).contentIdentifier() == expected)
    }

    @Test func `the entitlement server is asked by content and message id`() async throws {
        let expected = """
            POST https://ent.example/sees/SEESServlet
            accept: application/json
            content-type: application/json

            {"contentID":"0a1b","messageID":"MESSAGE-ID","version":1}
            """
        #expect(try await entitlement.lookupRequest() == expected)
    }

    /// Source: `Documentation/Migration/TVSDKExpressPlay.md`; the document's form of a key URI with an entitlement server.
    @Test func `an address after skd is used unchanged`() async throws {
        let key: KeyURI = "skd:https://ees.example:8443/sees?cid=0a1b"
        let wire = ProfileWire(.expressPlayEntitlement, key: key)
        #expect(try await wire.lookupRequest()?.hasPrefix("POST https://ees.example:8443/sees?cid=0a1b\n") == true)
        #expect(try wire.contentIdentifier() == "0a1b")
        let direct = ProfileWire(.expressPlay, key: "skd:https://fp.example/hms?ExpressPlayToken=A")
        #expect(try await direct.licenseRequest().hasPrefix("POST https://fp.example/hms?ExpressPlayToken=A\n"))
    }

    /// Source: `Documentation/Migration/TVSDKExpressPlay.md`.
    @Test func `a content id that the app knows replaces an empty key URI`() async throws {
        let settings = ["entitlementURL": "https://ent.example/sees", "contentId": "m-2"]
        let known = ProfileWire(.expressPlayEntitlement, key: "skd:", settings)
        #expect(try await known.lookupRequest()?.contains(#""contentID":"m-2""#) == true)
        let unknown = ProfileWire(.expressPlayEntitlement, key: "skd:", settings.filter { $0.key != "contentId" })
        let error = await #expect(throws: IntegrationError.self) { try await unknown.lookupRequest() }
        #expect(error?.reason == #"The content id needs the setting "contentId"."#)
    }

    /// Source: `Documentation/Migration/TVSDKExpressPlay.md`, the document's option for a first test.
    @Test func `a token URL may be given to the app, whatever the key URI says`() async throws {
        let url = "https://fp.service.expressplay.com:80/hms/fp/rights/?ExpressPlayToken=AQAA_-x"
        let wire = ProfileWire(.expressPlay, key: "skd:", ["tokenURL": url, "contentId": "m-2"])
        #expect(try await wire.licenseRequest().hasPrefix("POST \(url)\n"))
        #expect(try wire.contentIdentifier() == "m-2")
        #expect(!wire.profile.redaction.redacted(urlText: url).contains("AQAA_-x"))
    }

    /// Source: `Documentation/Migration/TVSDKExpressPlay.md`: the generator of tokens takes the customer's authenticator, and no SPC.
    @Test func `the host that makes tokens is no host for licenses`() {
        let hosts = VendorProfile.expressPlay.unchecked.configuredURLs.compactMap(\.host)
        #expect(hosts.contains("fp.service.expressplay.com") && !hosts.contains { $0.hasPrefix("fp-gen") })
    }

    @Test func `the license goes to the token URL that the entitlement names`() async throws {
        let reply =
            #"{"messageID":"MESSAGE-ID","version":1,"isAllowed":true,"epTokenURL":"https://fp.example:80/r/?T=1"}"#
        var wire = entitlement
        wire.lookup = try wire.lookup(reply)
        let expected = """
            POST https://fp.example:80/r/?T=1
            content-type: application/octet-stream

            fbff0001
            """
        #expect(try await wire.licenseRequest() == expected)
    }

    @Test(arguments: [
        (#"{"messageID":"OTHER","version":1,"isAllowed":true,"epTokenURL":"https://t"}"#, "lookupMalformed"),
        (#"{"version":1,"isAllowed":true,"epTokenURL":"https://t"}"#, "lookupMalformed"),
        (#"{"messageID":"MESSAGE-ID","version":2,"isAllowed":true,"epTokenURL":"https://t"}"#, "lookupMalformed"),
        (#"{"messageID":"MESSAGE-ID","version":1,"isAllowed":true}"#, "lookupMalformed"),
        (#"{"messageID":"MESSAGE-ID","version":1,"epTokenURL":"https://t"}"#, "forbidden"),
        ("<html>", "lookupMalformed"),
    ])
    func `an entitlement that does not fit is refused`(body: String, code: String) {
        let error = #expect(throws: IntegrationError.self) { try entitlement.lookup(body) }
        #expect(error?.code == code)
    }

    @Test func `an entitlement denied says why`() {
        let body = #"{"messageID":"MESSAGE-ID","version":1,"isAllowed":false,"error":12,"errorText":"not bought"}"#
        let error = #expect(throws: IntegrationError.self) { try entitlement.lookup(body) }
        #expect(error?.kind == .forbidden)
        #expect(
            error?.service == ServiceReply(status: 200, code: "12", message: "not bought", requestID: "MESSAGE-ID"))
        #expect(
            error?.reason
                == #"The service says no ("isAllowed" is not true), code 12, "not bought" (request MESSAGE-ID)."#)
    }

    @Test(arguments: [
        (["requestType": "3"], Diagnosis.Kind.missingSetting, "\"customerCookie\" where \"requestType\" is 3"),
        (["requestType": "2", "customerCookie": ""], .missingSetting, "\"customerCookie\""),
        (["requestType": "9", "customerCookie": "v"], .invalidRequest, "none of 1, 2, 3"),
        (
            ["requestType": "2", "customerCookie": String(repeating: "v", count: 40)], .invalidRequest,
            "has 40 characters, and 32 are the most"
        ),
    ])
    func `what an entitlement server would refuse of a binding is not sent`(
        settings: [String: String], kind: Diagnosis.Kind, words: String
    ) async {
        let wire = ProfileWire(
            .expressPlayEntitlement, key: Self.content,
            ["entitlementURL": "https://ent.example/s"].merging(settings) { $1 })
        let error = await #expect(throws: IntegrationError.self) { try await wire.lookupRequest() }
        #expect(error?.kind == kind)
        #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
    }

    // MARK: The app's own server. Source: `Documentation/Vendors/ExpressPlay.md`.

    private static func tokenServer(_ token: String? = "TOKEN", key: KeyURI = "skd://movie-1") -> ProfileWire {
        ProfileWire(
            .expressPlayTokenServer, key: key, token: token, ["tokenServerURL": "https://api.example/token?title=42"])
    }

    @Test(arguments: [nil, "TOKEN"]) func `the app's server is asked for a token URL for each key`(
        token: String?
    ) async throws {
        let request = try #require(try await Self.tokenServer(token).lookupRequest())
        let authorization = token.map { "\nauthorization: Bearer \($0)" } ?? ""
        #expect(
            request
                == "GET https://api.example/token?title=42&contentId=movie-1\naccept: text/uri-list, application/json"
                + authorization)
    }

    @Test(arguments: [
        "https://fp.example:80/r/?ExpressPlayToken=A\r\n",
        "# for movie-1\r\n\r\nhttps://fp.example:80/r/?ExpressPlayToken=A",
        #"{"url":"https://fp.example:80/r/?ExpressPlayToken=A"}"#,
    ])
    func `the app's server says the token URL in a list or in JSON`(reply: String) async throws {
        var wire = Self.tokenServer()
        wire.lookup = try wire.lookup(reply)
        #expect(try await wire.licenseRequest().hasPrefix("POST https://fp.example:80/r/?ExpressPlayToken=A\n"))
    }

    @Test(arguments: ["", "no", "#", "skd://x", "{}", "<html>", "# https://fp.example"])
    func `what is no token URL is refused`(reply: String) {
        let error = #expect(throws: IntegrationError.self) { try Self.tokenServer().lookup(reply) }
        #expect(error?.kind == .lookupMalformed)
    }

    @Test(arguments: [
        ("https://fp.example/license", "https://fp.example/license"), ("", "https://movie-1/x"),
    ])
    func `an on-premise server is configured or named by the key URI`(setting: String, url: String) async throws {
        let wire = ProfileWire(
            .expressPlayOnPremise, key: "skd://movie-1/x", ["licenseURL": setting, "contentId": "m-2"])
        #expect(try await wire.licenseRequest().hasPrefix("POST \(url)\n"))
        #expect(try wire.contentIdentifier() == "m-2")
    }

    @Test(arguments: [
        (400, "-2018", Diagnosis.Kind.unauthenticated), (400, "-2031", .forbidden), (400, "-6006", .forbidden),
        (400, "-6003", .invalidRequest), (500, "-6004", .serverTransient), (401, "-4010", .unauthenticated),
    ])
    func `a code is found in a page and in JSON`(status: Int, code: String, kind: Diagnosis.Kind) {
        let wire = ProfileWire(.expressPlay, key: Self.token)
        for body in ["<html><meta charset=utf-8>error \(code)</html>", #"{"errorCode":\#(code),"x":-20180}"#] {
            let error = wire.refusal(body, status: status)
            #expect(error?.kind == kind)
            #expect(error?.service?.code == code)
        }
    }

    @Test func `the reply is the CKC`() throws {
        let license = try ProfileWire(.expressPlay, key: Self.token).license(ProfileWire.ckc)
        #expect(license.ckc.revealed == ProfileWire.ckc)
    }
}
