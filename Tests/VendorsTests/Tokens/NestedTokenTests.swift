import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

/// Tokens that hold one message inside another.
@Suite struct NestedTokenTests {
    // MARK: Axinom

    private static func axinom(
        dates: String = "", license: String = #"{"allow_persistence":true}"#, key: String = TokenSample.keyID
    ) -> String {
        TokenSample.jwt(
            #"{"version":1,"com_key_id":"11111111-0000-0000-0000-000000000000",\#(dates)"message":{"#
                + #""type":"entitlement_message","version":2,"license":\#(license),"#
                + #""content_keys_source":{"inline":[{"id":"\#(key)"}]}}}"#)
    }

    @Test(arguments: [
        (axinom(), []),
        (axinom(dates: #""begin_date":"2024-06-01T11:00:00Z","expiration_date":"2024-06-01T13:00:00Z","#), []),
        (axinom(dates: #""begin_date":"2024-06-01T13:00:00+00:00","#), ["notYetValid"]),
        (axinom(dates: #""expiration_date":"2024-06-01T11:00:00.000Z","#), ["expired"]),
        (axinom(license: #"{"start_datetime":"2024-07-01T00:00:00Z","allow_persistence":true}"#), ["notYetValid"]),
        (axinom(license: #"{"expiration_datetime":"2024-05-01T00:00:00Z","allow_persistence":true}"#), ["expired"]),
        (axinom(license: "{}"), ["noOfflineRight"]), (axinom(license: "[]"), ["noOfflineRight"]),
        (axinom(key: "11112233-4455-6677-8899-aabbccddeeff"), ["keyNotCovered"]),
        (TokenSample.jwt(#"{"com_key_id":"a","message":{}}"#), ["malformed"]),
        (TokenSample.jwt(#"{"com_key_id":"a","message":"text"}"#), ["malformed"]),
    ])
    func `Axinom's message has dates, and its entitlement a window, keys and rights`(token: String, codes: [String]) {
        let found = TokenFormat.axinom.inspect(
            token, contentID: "\(TokenSample.keyID):00000000000000000000000000000000", purpose: .persistable,
            at: TokenSample.now)
        #expect(found.codes == codes)
    }

    @Test func `Axinom's exp counts as well, and streaming needs no storage`() {
        let token = TokenSample.jwt(
            #"{"com_key_id":"a","exp":1,"message":{"type":"entitlement_message","license":{"duration":60}}}"#)
        let found = TokenFormat.axinom.inspect(token, at: TokenSample.now)
        #expect(found.codes == ["expired"])
        #expect(found[fact: "license lasts"] == "60 s")
    }

    // MARK: NAGRA

    private static func nagra(_ rights: String, _ more: String = "") -> String {
        TokenSample.jwt(#"{"ver":"1.0","typ":"ContentAuthZ",\#(more)"contentRights":[\#(rights)]}"#)
    }

    @Test(arguments: [
        (nagra(#"{"contentId":"demo-1","storable":true}"#), []),
        (nagra(#"{"contentId":"x"},{"contentId":"demo-1","storable":true}"#), []),
        (nagra(#"{"contentId":"x","storable":true}"#), ["keyNotCovered"]), (nagra(""), ["keyNotCovered"]),
        (nagra(#"{"contentId":"demo-1"}"#), ["noOfflineRight"]),
        (nagra(#"{"contentId":"demo-1","storable":true}"#, #""exp":\#(TokenSample.past),"#), ["expired"]),
        (nagra(#"{"contentId":"demo-1","storable":true,"start":"2024-07-01T00:00:00Z"}"#), ["notYetValid"]),
        (nagra(#"{"contentId":"demo-1","storable":true,"end":\#(TokenSample.past)}"#), ["expired"]),
        (TokenSample.jwt(#"{"typ":"ContentAuthZ"}"#), ["malformed"]),
    ])
    func `NAGRA's token has a right to the content`(token: String, codes: [String]) {
        let document = #"{"ContentId":"demo-1","KeyId":"00000000-0000-0000-0000-000000000000","IV":"AAAA"}"#
        for (text, content) in [(token, document), (token + ",eyJh.e30.x", "demo-1")] {
            let found = TokenFormat.nagra.inspect(
                text, contentID: content, purpose: .persistable, at: TokenSample.now)
            #expect(found.codes == codes)
        }
    }

    @Test func `NAGRA's token says whether a session is needed`() {
        let control = #""sessionControl":{"sessionControlEnabled":true,"maxSessions":2}"#
        let token = Self.nagra(#"{"contentId":"demo-1",\#(control)}"#)
        let found = TokenFormat.nagra.inspect(token, at: TokenSample.now)
        #expect(found[fact: "needs a session"] == "true")
        #expect(found[fact: "concurrent sessions"] == "2")
        #expect(found.codes == [])
    }

    /// Without any setting nothing is known of the app; behind a comma stands the token of a session that the app opened itself.
    @Test(arguments: [
        ("true", "", ["licenseURL": "https://n.example/l"], ["needsSession"]),
        ("true", "", ["sessionURL": "https://n.example/s"], []), ("true", "", [:], []),
        ("true", ",eyJh.e30.x", ["licenseURL": "https://n.example/l"], []),
        ("false", "", ["licenseURL": "https://n.example/l"], []),
    ])
    func `NAGRA's token that needs a session is held against the settings`(
        isEnabled: String, session: String, settings: [String: String], codes: [String]
    ) {
        let control = #""sessionControl":{"sessionControlEnabled":\#(isEnabled)}"#
        let token = Self.nagra(#"{"contentId":"demo-1",\#(control)}"#) + session
        #expect(TokenFormat.nagra.inspect(token, settings: settings, at: TokenSample.now).codes == codes)
    }

    // MARK: DRMtoday

    private static func drmToday(_ crt: String) -> String {
        let quoted = crt.replacingOccurrences(of: "\"", with: "\\\"")
        return TokenSample.jwt(#"{"crt":"\#(quoted)","optData":"{}","iat":1,"jti":"a"}"#, header: #"{"alg":"HS512"}"#)
    }

    @Test(arguments: [
        (drmToday(#"[{"assetId":"a","variantId":"v","storeLicense":true,"profile":{"purchase":{}}}]"#), []),
        (drmToday(#"[{"assetId":"x"},{"assetId":"a","storeLicense":true}]"#), []),
        (drmToday(#"[{"assetId":"a","storeLicense":false}]"#), ["noOfflineRight"]),
        (drmToday(#"[{"assetId":"b","storeLicense":true}]"#), ["keyNotCovered"]),
        (drmToday(#"[{"assetId":"a","variantId":"w","storeLicense":true}]"#), ["keyNotCovered"]),
        (drmToday("[]"), ["keyNotCovered"]), (drmToday("{}"), ["malformed"]), (drmToday("no"), ["malformed"]),
        (TokenSample.jwt(#"{"crt":[]}"#), ["malformed"]),
    ])
    func `DRMtoday's JSON text has the asset`(token: String, codes: [String]) {
        for content in ["skd://drmtoday?assetId=a&variantId=v", "assetid=a&variantid=v"] {
            let found = TokenFormat.drmToday.inspect(
                token, contentID: content, purpose: .persistable, at: TokenSample.now)
            #expect(found.codes == codes)
        }
    }
}
