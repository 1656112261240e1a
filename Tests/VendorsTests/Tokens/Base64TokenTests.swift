import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

/// Tokens that are a document in base64.
@Suite struct Base64TokenTests {
    // MARK: PallyCon

    private static func pallyCon(
        _ timestamp: String = "2024-06-01T11:55:00Z", type: String = "FairPlay", cid: String = "movie",
        form: String = "original"
    ) -> String {
        TokenSample.base64(
            #"{"drm_type":"\#(type)","site_id":"DEMO","user_id":"u","cid":"\#(cid)","policy":"QUJDREVGR0g=","#
                + #""timestamp":"\#(timestamp)","hash":"aGFzaA==","response_format":"\#(form)"}"#)
    }

    @Test(arguments: [
        (pallyCon(), []), (pallyCon("2024-06-01T11:50:01Z"), []), (pallyCon("2024-06-01T11:50:00Z"), ["expired"]),
        (pallyCon("2024-06-01T12:01:00Z"), []),
        (pallyCon("2024-06-01T12:01:01Z"), ["notYetValid"]),
        (pallyCon("2024-06-01 11:55"), ["malformed"]),
        (pallyCon(type: "Widevine"), ["unsuitable"]), (pallyCon(cid: "other"), ["keyNotCovered"]),
        (pallyCon(form: "custom"), ["unsuitable"]),
        (TokenSample.base64(#"{"site_id":"DEMO"}"#), ["malformed"]), (TokenSample.base64("[]"), ["malformed"]),
        (String(pallyCon().dropLast(9)), ["malformed"]),
    ])
    func `PallyCon's token is for FairPlay and this content, and lasts 600 seconds`(token: String, codes: [String]) {
        #expect(TokenFormat.pallyCon.inspect(token, contentID: "movie", at: TokenSample.now).codes == codes)
    }

    @Test func `PallyCon's facts omit policy and hash`() {
        let found = TokenFormat.pallyCon.inspect(Self.pallyCon(), at: TokenSample.now)
        #expect(found[fact: "expires"] == "2024-06-01T12:05:00Z")
        #expect(found.facts.map(\.name) == ["drm_type", "site_id", "cid", "response_format", "generated", "expires"])
    }

    // MARK: KeyOS

    private static let certificate = "0123456789abcdef0123456789abcdef"

    private static func keyOS(
        expiration: String = "2024-06-01 13:00:00.000", policy: String = #"<FairPlayPolicy persistent="true"/>"#,
        before: String = "", certificate: String = certificate
    ) -> String {
        TokenSample.base64(
            "\(before)<KeyOSAuthenticationXML><Data><GenerationTime>2024-01-01 00:00:00.000</GenerationTime>"
                + "<ExpirationTime>\(expiration)</ExpirationTime><UniqueId>u</UniqueId>"
                + "<RSAPubKeyId>\(certificate)</RSAPubKeyId>\(policy)<License type=\"simple\"/></Data>"
                + "<Signature>c2VjcmV0</Signature></KeyOSAuthenticationXML>")
    }

    @Test(arguments: [
        (keyOS(), []), (keyOS(before: #"<?xml version="1.0" encoding="UTF-8"?>"#), []),
        (keyOS(expiration: "2024-06-01 12:00:00.000"), ["expired"]),
        (keyOS(expiration: "2024-06-01 11:00:00"), ["expired"]),
        (keyOS(expiration: "tomorrow"), ["malformed"]),
        (keyOS(policy: #"<FairPlayPolicy persistent="false"/>"#), ["noOfflineRight"]), (keyOS(policy: ""), []),
        (keyOS(certificate: "ffffffffffffffffffffffffffffffff"), ["unsuitable"]),
        (keyOS(certificate: "0123456789ABCDEF0123456789ABCDEF"), []),
        (keyOS(policy: "<open>"), ["malformed"]),
    ])
    func `KeyOS's document has an end, a certificate and a policy`(token: String, codes: [String]) {
        let found = TokenFormat.keyOS.inspect(
            token, purpose: .persistable,
            settings: ["certificateURL": "https://fp-keyos.licensekeyserver.com/cert/\(Self.certificate).der"],
            at: TokenSample.now)
        #expect(found.codes == codes)
    }

    @Test(arguments: [
        #"<!DOCTYPE a [<!ENTITY x "boom">]>"#, #"<!DOCTYPE a SYSTEM "file:///etc/hostname">"#,
        #"<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "http://127.0.0.1:1/">]>"#,
    ])
    func `a document with its own type is refused unread`(before: String) {
        let token = Self.keyOS(before: before)
        #expect(TokenFormat.detect(token) == .opaque)
        let found = TokenFormat.keyOS.inspect(token, at: TokenSample.now)
        #expect(found.codes == ["malformed"])
        #expect(found.facts.isEmpty)
    }

    @Test func `KeyOS facts lack a signature`() {
        let found = TokenFormat.keyOS.inspect(Self.keyOS(), at: TokenSample.now)
        #expect(found.facts.map(\.name) == ["generated", "certificate", "expires", "may be stored"])
        #expect(found[fact: "expires"] == "2024-06-01T13:00:00Z")
    }

    // MARK: VuDRM

    private static let hash = String(repeating: "0", count: 40)

    @Test(arguments: [
        ("client|2024-06-01T11:59:45Z|AAAA|\(hash)", []),
        ("client|2024-06-01T11:59:00Z|AAAA|\(hash)", ["mayHaveExpired"]),
        ("client|2024-06-01T11:59:45Z|2|AAAA|\(hash)", []), ("client|no date|AAAA|\(hash)", []),
        ("|2024-06-01T11:59:45Z|AAAA|00", ["malformed", "malformed"]), ("client|AAAA", ["malformed"]),
    ])
    func `VuDRM's token has four or five parts`(token: String, codes: [String]) {
        #expect(TokenFormat.vuDRM.inspect(token, at: TokenSample.now).codes == codes)
    }
}
