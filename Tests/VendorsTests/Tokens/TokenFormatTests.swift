import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct TokenFormatTests {
    private static let samples: [(TokenFormat, String)] = [
        (.opaque, ""), (.opaque, "0123456789abcdef"), (.opaque, "a.b.c"), (.opaque, TokenSample.base64("{}")),
        (.vuDRM, "client|2024-01-02T03:04:05Z|AAAA|0000"), (.vuDRM, "client|2024-01-02T03:04:05Z|2|AAAA|0000"),
        (.jwt, TokenSample.jwt(#"{"exp":1}"#)), (.jwt, TokenSample.jwt(#"{"drmTokenInfo":{"kid":["*"]}}"#)),
        (.azure, TokenSample.jwt(#"{"urn:microsoft:azure:mediaservices:contentkeyidentifier":"x"}"#)),
        (.verimatrix, TokenSample.jwt(#"{"sub":"a","policy":{"fairplay":{"lease":true}}}"#)),
        (.verimatrix, TokenSample.jwt(#"{"sub":"a","security_policy":{}}"#)),
        (.axinom, TokenSample.jwt(#"{"version":1,"com_key_id":"x","message":{}}"#)),
        (.drmToday, TokenSample.jwt(#"{"crt":"[]","optData":"{}"}"#)),
        (.nagra, TokenSample.jwt(#"{"ver":"1.0","typ":"ContentAuthZ"}"#)),
        (.nagra, TokenSample.jwt(#"{"contentRights":[]}"#) + "," + TokenSample.jwt("{}")),
        (.mux, TokenSample.jwt(#"{"sub":"a","aud":"d","exp":1}"#)), (.mux, TokenSample.jwt(#"{"aud":["d"]}"#)),
        (.pallyCon, TokenSample.base64(#"{"drm_type":"FairPlay","site_id":"DEMO"}"#)),
        (.keyOS, TokenSample.base64("<KeyOSAuthenticationXML></KeyOSAuthenticationXML>")),
    ]

    @Test(arguments: samples)
    func `a token's form is recognized`(format: TokenFormat, token: String) {
        #expect(TokenFormat.detect(token) == format)
    }

    @Test(arguments: TokenFormat.allCases)
    func `an overlong token is not inspected`(format: TokenFormat) {
        let token = String(repeating: "A", count: TokenFormat.maximumLength + 1)
        #expect(TokenFormat.detect(token) == .opaque)
        #expect(format.inspect(token, at: TokenSample.now).codes == ["malformed"])
    }

    @Test(arguments: TokenFormat.allCases.filter { $0 != .opaque }, ["", "nonsense", "a.b.c", "e30=", "||", "😀"])
    func `another form is malformed`(format: TokenFormat, token: String) {
        #expect(format.inspect(token, at: TokenSample.now).codes == ["malformed"])
    }

    @Test(arguments: [
        ("undefined", "it is a placeholder"), ("[object Object]", "it is a placeholder"),
        ("INSERT_TOKEN", "it is a placeholder"), ("<your JWT>", "it is a placeholder"),
        ("{{token}}", "it is a placeholder"),
        ("Bearer " + TokenSample.jwt("{}"), "the word Bearer precedes it and is not part of it"),
        ("\"\(TokenSample.jwt("{}"))\"", "it is in quotation marks"),
        (TokenSample.jwt(#"{"exp":1717243200000}"#), "its exp is in milliseconds, and a JWT's dates are in seconds"),
        (TokenSample.jwt(#"{"exp":1717246800,"iat":1717243200000}"#), "its iat is in milliseconds, and"),
    ])
    func `text around or in place of a token is named`(token: String, words: String) {
        let advice = TokenFormat.jwt.inspect(token, at: TokenSample.now).advice
        #expect(advice.count == 1 && advice.first?.description.contains(words) == true, "\(advice)")
    }

    @Test(arguments: ["token", "demo-token", "YOURS", "Bearer 0123", "insert"])
    func `an opaque token gets no advice`(token: String) {
        #expect(TokenFormat.opaque.inspect(token, at: TokenSample.now).advice == [])
    }

    @Test(arguments: TokenFormat.allCases, [UInt64](1...2))
    func `no token crashes its inspection or shows up in its facts`(format: TokenFormat, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for (_, sample) in Self.samples {
            for _ in 0..<25 {
                let token = Self.damaged(sample, &random)
                _ = TokenFormat.detect(token)
                let inspection = format.inspect(
                    token, keyID: KeyID(TokenSample.keyID), contentID: token, purpose: .persistable,
                    settings: ["certificateURL": token], at: TokenSample.now)
                #expect(
                    inspection.facts.allSatisfy {
                        $0.value.count <= 300 && (token.isEmpty || !$0.value.contains(token))
                    })
            }
        }
    }

    @Test(arguments: TokenFormat.allCases)
    func `odd JSON and XML do no harm`(format: TokenFormat) {
        let odd = ["null", "true", "-1e308", "1e400", "\"\"", "[]", "{}", "[[[]]]", #"[{"id":1}]"#, "\"\\u0000\""]
        let names = [
            "exp", "nbf", "aud", "sub", "kid", "policy", "message", "com_key_id", "contentRights", "crt", "offline",
            "begin_date", "expiration_date", "drm_type", "timestamp", "cid",
        ]
        for value in odd {
            let json = "{\(names.map { "\"\($0)\":\(value)" }.joined(separator: ","))}"
            for token in [TokenSample.jwt(json), TokenSample.base64(json)] {
                _ = format.inspect(token, contentID: value, purpose: .persistable, at: TokenSample.now)
            }
        }
        let deep = String(repeating: "[", count: 20_000)
        _ = format.inspect(TokenSample.jwt(deep), at: TokenSample.now)
        let nested = "<KeyOSAuthenticationXML>" + String(repeating: "<a>", count: 10_000)
        #expect(TokenFormat.keyOS.inspect(TokenSample.base64(nested), at: TokenSample.now).codes == ["malformed"])
        let instruction = "<KeyOSAuthenticationXML><?p?></KeyOSAuthenticationXML>"
        #expect(TokenFormat.keyOS.inspect(TokenSample.base64(instruction), at: TokenSample.now).codes == ["malformed"])
    }

    /// A sample with some bytes replaced, removed or repeated, before or after decoding.
    private static func damaged(_ sample: String, _ random: inout SeededGenerator) -> String {
        var bytes = Array(sample.utf8)
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            guard !bytes.isEmpty else { break }
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: index)
            default: bytes.insert(contentsOf: bytes[index...].prefix(9), at: index)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
