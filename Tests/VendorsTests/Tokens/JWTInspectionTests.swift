import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct JWTInspectionTests {
    private func advice(
        _ format: TokenFormat, _ claims: String, keyID: String? = nil, contentID: String? = nil,
        purpose: KeyPurpose = .streaming, settings: [String: String] = [:]
    ) -> TokenInspection {
        format.inspect(
            TokenSample.jwt(claims), keyID: keyID.flatMap { KeyID($0) }, contentID: contentID, purpose: purpose,
            settings: settings, at: TokenSample.now)
    }

    @Test(
        arguments: [TokenFormat.jwt, .azure, .verimatrix],
        [
            (#"{"exp":\#(TokenSample.past)}"#, ["expired"]), (#"{"exp":\#(TokenSample.future)}"#, []),
            (#"{"nbf":\#(TokenSample.future)}"#, ["notYetValid"]), (#"{"nbf":\#(TokenSample.past)}"#, []),
            (#"{"exp":\#(TokenSample.past),"nbf":\#(TokenSample.future)}"#, ["expired", "notYetValid"]), ("{}", []),
        ])
    func `dates are checked against the clock`(format: TokenFormat, row: (claims: String, codes: [String])) {
        // Verimatrix wants an iat.
        #expect(advice(format, row.claims).codes == row.codes + (format == .verimatrix ? ["malformed"] : []))
    }

    @Test func `facts name the parties, never the token`() {
        let inspection = advice(.jwt, #"{"iss":"me","aud":["you","they"],"sub":"a","exp":\#(TokenSample.future)}"#)
        #expect(inspection[fact: "algorithm"] == "HS256")
        #expect(inspection[fact: "iss"] == "me")
        #expect(inspection[fact: "aud"] == "you, they")
        #expect(inspection[fact: "expires"] == "2024-06-01T13:00:00Z")
        let long = String(repeating: "x", count: 5_000)
        #expect(advice(.jwt, #"{"sub":"\#(long)"}"#)[fact: "sub"] == "‹5000 characters›")
    }

    // MARK: Cloud DRM

    @Test(arguments: [
        (#"{"kid":["\#(TokenSample.keyID)"]}"#, []), (#"{"kid":["*"]}"#, []), (#"{"kid":"*"}"#, []),
        (#"{"kid":["11112233-4455-6677-8899-aabbccddeeff"]}"#, ["keyNotCovered"]),
        (#"{"drmTokenInfo":{"kid":["1"],"exp":"2024-05-31T00:00:00Z"}}"#, ["expired", "keyNotCovered"]),
        (#"{"fairplay":{"persistent":false}}"#, ["noOfflineRight"]),
        (#"{"drmTokenInfo":{"p":{"pers":false}}}"#, ["noOfflineRight"]), (#"{"persistent":true}"#, []),
    ])
    func `Cloud DRM's claims of both generations are checked`(claims: String, codes: [String]) {
        #expect(advice(.jwt, claims, keyID: TokenSample.keyID, purpose: .persistable).codes == codes)
    }

    // MARK: Azure

    private static func azure(_ key: String) -> String {
        #"{"urn:microsoft:azure:mediaservices:contentkeyidentifier":"\#(key)","iss":"me","aud":"you"}"#
    }

    @Test(arguments: [
        (TokenSample.keyID, []), ("00112233445566778899AABBCCDDEEFF", []),
        ("11112233-4455-6677-8899-aabbccddeeff", ["keyNotCovered"]), ("x", ["keyNotCovered"]),
    ])
    func `Azure's key matches the content id`(key: String, codes: [String]) {
        let claims = Self.azure(key)
        #expect(advice(.azure, claims, keyID: TokenSample.keyID).codes == codes)
        #expect(advice(.azure, claims, contentID: "kid=\(TokenSample.keyID)").codes == codes)
        #expect(advice(.azure, claims).codes == [])
    }

    @Test(arguments: [
        ([:], []), (["issuer": "me", "audience": "you"], []), (["issuer": "another"], ["unsuitable"]),
        (["issuer": "another", "audience": "others"], ["unsuitable", "unsuitable"]),
    ])
    func `Azure's issuer and audience match the settings`(settings: [String: String], codes: [String]) {
        #expect(advice(.azure, Self.azure(TokenSample.keyID), settings: settings).codes == codes)
    }

    // MARK: Verimatrix

    @Test(arguments: [
        (#"{"iat":\#(TokenSample.past),"sub":"movie","policy":{"fairplay":{"persistence":true}}}"#, []),
        (
            #"{"iat":\#(TokenSample.past),"sub":"movie","policy":{"fairplay":{"persistence":false}}}"#,
            ["noOfflineRight"]
        ),
        (#"{"iat":\#(TokenSample.past),"sub":"movie","policy":{"fairplay":{}}}"#, ["noOfflineRight"]),
        (#"{"iat":\#(TokenSample.past),"sub":"other","policy":{"fairplay":{"persistence":true}}}"#, ["keyNotCovered"]),
        (#"{"sub":"movie","policy":{"fairplay":{"persistence":true}}}"#, ["malformed"]),
    ])
    func `Verimatrix's subject is the content id and its policy grants storage`(claims: String, codes: [String]) {
        #expect(advice(.verimatrix, claims, contentID: "movie", purpose: .persistable).codes == codes)
    }

    /// Source: `Documentation/Vendors/Verimatrix.md`, token.
    @Test(arguments: [(-60, []), (-119, []), (-121, ["expired"])])
    func `Verimatrix's token ends two minutes after its creation, despite a later exp`(age: Double, codes: [String]) {
        let made = Int(TokenSample.now.timeIntervalSince1970 + age)
        let inspection = advice(.verimatrix, #"{"sub":"movie","iat":\#(made),"exp":\#(TokenSample.future)}"#)
        #expect(inspection.codes == codes)
        #expect(inspection[fact: "good for a license until"] != nil)
    }

    @Test func `Verimatrix's lease is a fact`() {
        let claims =
            #"{"iat":\#(TokenSample.past),"sub":"movie","policy":{"fairplay":{"lease":true,"lease_duration":300}}}"#
        let inspection = advice(.verimatrix, claims, contentID: "movie")
        #expect(inspection[fact: "lease"] == "300 s")
        #expect(inspection.codes == [])
    }

    // MARK: Mux

    @Test(arguments: [
        (#"{"sub":"abc","aud":"d","exp":\#(TokenSample.future),"offline":true}"#, []),
        (#"{"sub":"abc","aud":"d","exp":\#(TokenSample.future)}"#, ["noOfflineRight"]),
        (#"{"sub":"xyz","aud":"d","exp":\#(TokenSample.future),"offline":true}"#, ["keyNotCovered"]),
        (#"{"sub":"abc","aud":"v","exp":\#(TokenSample.past),"offline":true}"#, ["expired", "unsuitable"]),
        (#"{"sub":"abc","aud":"d","offline":true}"#, ["malformed"]),
    ])
    func `Mux's token is for the playback id and for DRM`(claims: String, codes: [String]) {
        #expect(advice(.mux, claims, purpose: .persistable, settings: ["playbackId": "abc"]).codes == codes)
        let uri = "skd://h/?playbackId=abc&token=t"
        #expect(advice(.mux, claims, contentID: uri, purpose: .persistable).codes == codes)
    }

    @Test func `Mux's offline playback terms are facts`() {
        let claims = #"{"aud":"d","exp":9999999999,"offline":true,"licenseExpiration":86400,"playDuration":3600}"#
        let inspection = advice(.mux, claims)
        #expect(inspection[fact: "stored for"] == "86400 s")
        #expect(inspection[fact: "plays for"] == "3600 s")
    }
}
