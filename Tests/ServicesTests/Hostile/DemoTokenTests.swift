import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyTesting
import LatchkeyVendorWire
import Testing

@testable import LatchkeyServices

/// The tokens that `latchkey serve` accepts: made with the keys that it prints, and no others.
@Suite(.timeLimit(.minutes(5))) struct DemoTokenTests {
    private func service<Service: VendorService>(_ type: Service.Type = Service.self) throws -> Service {
        let all = VendorServices.all(authority: try Stage.authority(), time: ManualTimekeeper())
        return try #require(all.compactMap { $0 as? Service }.first)
    }

    @Test func `services that verify signatures list their keys`() throws {
        let all = VendorServices.all(authority: try Stage.authority(), time: ManualTimekeeper())
        let telling = all.filter { !$0.tokenKeys.isEmpty }.map(\.identifier.rawValue)
        #expect(
            telling == [
                "cloud-drm", "azure", "verimatrix", "titanium", "nagra", "axinom", "keyos", "drmtoday", "doverunner",
                "irdeto", "mux", "jw-platform", "latchkey",
            ])
    }

    // MARK: KeyOS

    private static let data = """
        <Data><GenerationTime>2026-01-01 00:00:00.000</GenerationTime>\
        <ExpirationTime>2026-01-01 01:00:00.000</ExpirationTime><UniqueId>u</UniqueId>\
        <RSAPubKeyId>0123456789abcdef0123456789abcdef</RSAPubKeyId></Data>
        """

    @Test(arguments: [
        "AAAA", "", "not base64", Data(count: 256).base64EncodedString(),
        Data(repeating: 0xff, count: 256).base64EncodedString(),
    ])
    func `a KeyOS authentication with a made-up signature is refused`(_ signature: String) async throws {
        let xml = "<KeyOSAuthenticationXML>\(Self.data)<Signature>\(signature)</Signature></KeyOSAuthenticationXML>"
        #expect(try await keyOSStatus(xml) == 401)
    }

    @Test func `a KeyOS authentication that was signed and then changed is refused`() async throws {
        let service: KeyOSService = try service()
        let xml = try #require(
            Data(base64Encoded: service.demoToken().revealedText).map { String(decoding: $0, as: UTF8.self) })
        #expect(try await keyOSStatus(xml, service) == 200)
        for changed in [
            xml.replacing("persistent=\"false\"", with: "persistent=\"true\""), xml + "<!-- x -->", xml + "x",
            xml + xml,
            "<!DOCTYPE a SYSTEM \"http://127.0.0.1:1/a.dtd\">" + xml, "<a>\(xml)</a>",
            xml.replacing("<Data>", with: "<Data><a/></Data><Data>"),
            xml.replacing(
                "</Data>", with: "</Data><Data><ExpirationTime>2099-01-01 00:00:00.000</ExpirationTime></Data>"),
            xml.replacing("</UniqueId>", with: "</UniqueId><UniqueId>v</UniqueId>"),
            xml.replacing("<Data>", with: "<b><Data>").replacing("</Data>", with: "</Data></b>"),
            xml.replacing("<Signature>", with: "<Signature/><Signature>"),
        ] {
            #expect(changed != xml)
            #expect(try await keyOSStatus(changed, service) == 401, "\(changed.prefix(60))")
        }
        #expect(try await keyOSStatus("\n\(xml)\n", service) == 200)
    }

    private func keyOSStatus(_ xml: String, _ given: KeyOSService? = nil) async throws -> Int {
        let service = try given ?? service()
        let path = try #require(service.parameters(at: "")["certificateURL"])
        let request = HTTPRequest(
            method: "GET", target: path, headers: ["x-keyos-authorization": Data(xml.utf8).base64EncodedString()])
        return await service.respond(to: request).status
    }

    // MARK: DoveRunner

    @Test(arguments: [
        ("{}", nil), (#"{"hash":"AAAA"}"#, "7019"), (#"{"hash":"\#(Data(count: 32).base64EncodedString())"}"#, "7019"),
        (#"{"timestamp":"2026-01-01T00:01:00Z"}"#, nil), (#"{"timestamp":"2026-01-01T00:01:01Z"}"#, "7011"),
        (#"{"timestamp":"2099-01-01T00:00:00Z"}"#, "7011"), (#"{"cid":"video"}"#, nil),
    ])
    func `a DoveRunner token has the site's hash and is not from the future`(_ claims: String, _ code: String?)
        async throws
    {
        let service: DoveRunnerService = try service()
        #expect(try await doveRunnerCode(service.token(claims: claims).revealedText, service) == code)
    }

    @Test func `a DoveRunner token that was changed has the wrong hash`() async throws {
        let service: DoveRunnerService = try service()
        let json = try #require(
            Data(base64Encoded: service.demoToken().revealedText).map { String(decoding: $0, as: UTF8.self) })
        let changed = json.replacing(#""user_id":"latchkey""#, with: #""user_id":"eve""#)
        try #require(changed != json)
        #expect(try await doveRunnerCode(Data(changed.utf8).base64EncodedString(), service) == "7019")
    }

    /// The hash by hand: base64 of SHA-256 over access key, `drm_type`, `site_id`, `user_id`, `cid`, `policy` and `timestamp`.
    @Test func `a vendor-style token is accepted`() throws {
        let token = """
            {"drm_type":"FairPlay","site_id":"DEMO","user_id":"u","cid":"c","policy":"AA==",\
            "timestamp":"2026-01-01T00:00:00Z","hash":"HASH"}
            """.replacing("HASH", with: "woGhQQpx2MXdvEDCwe/FgbTPbQ8t6GakCp4hIF9rjBw=")
        _ = try DoveRunnerToken(Data(token.utf8).base64EncodedString(), key: Secret("key"))
    }

    private func doveRunnerCode(_ token: String, _ service: DoveRunnerService) async throws -> String? {
        let device = try SimulatedDevice(
            certificate: Stage.credentials.credential.certificate,
            applicationSecret: Stage.credentials.applicationSecret, timekeeper: ManualTimekeeper())
        var generator = SeededGenerator(seed: 7)
        let exchange = try device.exchange(for: ContentIdentifier("video"), using: &generator)
        let body = "spc=\(formEncoded(exchange.spc.revealed.base64EncodedString()))"
        let request = HTTPRequest(
            method: "POST", target: "/ri/licenseManager.do",
            headers: ["pallycon-customdata-v2": token, "Content-Type": "application/x-www-form-urlencoded"],
            body: Data(body.utf8))
        let reply = await service.respond(to: request)
        guard reply.headers.mediaType == "application/json" else { return nil }
        return JSONValue(reply.bytes ?? Data())?["errorCode"]?.text
    }
}
