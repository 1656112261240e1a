import Foundation
import LatchkeyCore
import Testing

@_spi(Integrations) @testable import LatchkeyVendors

/// A service's own words, if its vendor documents no place for them.
///
/// Source: `Documentation/Vendors/README.md` §23.7.
@Suite struct ServiceWordsTests {
    private func summary(_ body: String, status: Int = 400, _ headers: [(name: String, value: String)] = [])
        -> ServiceReply
    {
        ErrorRules().summary(of: HTTPReply(status: status, headers: headers, body: Data(body.utf8)))
    }

    @Test(
        arguments: [
            (#"{"error":"no rights"}"#, nil, "no rights"), (#"{"message":"no rights"}"#, nil, "no rights"),
            (#"{"error":{"code":"E1","message":"no rights"}}"#, "E1", "no rights"),
            (#"{"error":"invalid_token","error_description":"it expired"}"#, nil, "it expired"),
            (#"{"errorCode":17,"errorMessage":"no rights"}"#, "17", "no rights"),
            (#"{"errors":[{"code":"x","message":"no rights"}]}"#, "x", "no rights"),
            (#"{"Message":"no rights"}"#, nil, "no rights"),
            (#"{"title":"Bad","detail":"no rights"}"#, nil, "no rights"),
            (#"{"error":true,"message":""}"#, nil, nil), ("no rights", nil, "no rights"), ("", nil, nil),
            ("<html><head><TITLE>403\n Forbidden</TITLE></head></html>", nil, "403 Forbidden"), ("<a/>", nil, nil),
        ] as [(String, String?, String?)])
    func `are found at the usual places of a body`(body: String, code: String?, words: String?) {
        #expect(summary(body) == ServiceReply(status: 400, code: code, message: words))
    }

    /// m5.
    @Test(
        arguments: [
            #"{"error":{"type":"bad","messages":["no rights"]}}"#, #"{"ERROR":{"MESSAGE":"no rights"}}"#,
            #"{"errors":["no rights"]}"#, #"["no rights"]"#, #"{"Fault":{"FaultString":"no rights"}}"#,
            #"{"response":{"status":{"code":7,"Error_Message":"no rights"}}}"#,
            #"{"error":"{\"Message\":\"no rights\"}"}"#, #"{"data":"{\"errors\":[{\"detail\":\"no rights\"}]}"}"#,
        ])
    func `are found in lists, under names in any letter case, and in nested documents`(body: String) {
        #expect(summary(body).message == "no rights")
    }

    @Test func `are the first three of a list`() {
        #expect(summary(#"{"errors":["one","two","three","four"]}"#).message == "one; two; three")
    }

    @Test(arguments: [#"{"data":["AAAA"],"kid":"AAAA"}"#, #"{"error":7}"#, #"{"a":{"b":{"c":null}}}"#])
    func `are not any text of a document`(body: String) {
        #expect(summary(body).message == (body.contains("7") ? "7" : nil))
    }

    @Test func `are found at the usual places if the vendor's have none`() {
        let rules = ErrorRules(message: [.json("text")])
        let reply = HTTPReply(status: 502, body: Data("<html><title>Bad gateway</title></html>".utf8))
        #expect(rules.summary(of: reply).message == "Bad gateway")
    }

    @Test(arguments: [
        ("X-Error-Message", "no rights", "no rights"), ("x-error", "no rights", "no rights"),
        (
            "WWW-Authenticate", #"Bearer error="invalid_token", error_description="The token expired""#,
            #"Bearer error="invalid_token", error_description="The token expired""#
        ),
    ])
    func `are found in header fields`(name: String, value: String, words: String) {
        #expect(summary("", [(name, value)]).message == words)
    }

    @Test(arguments: ["x-request-id", "X-Correlation-ID", "x-ms-request-id", "x-amzn-RequestId"])
    func `come with the id of the request`(name: String) {
        #expect(summary("", [(name, "r-1")]).requestID == "r-1")
    }

    @Test func `are not the text of a successful reply, which is a license`() {
        #expect(summary("AAAA BBBB", status: 200).message == nil)
        #expect(summary(#"{"error":"no"}"#, status: 200).message == "no")
    }

    @Test(arguments: [
        ("a\u{1b}[31mb\u{7}\r\nc", "a [31mb c"), ("a\u{202e}b\u{9b}c", "a b c"), ("  a \t b ", "a b"),
        (String(repeating: "word ", count: 100), String((String(repeating: "word ", count: 60)).prefix(300))),
    ])
    func `are one line without control characters`(text: String, words: String) {
        #expect(text.inFewWords == words)
    }

    @Test(arguments: [
        ("Bearer s3cr3t-s3cr3t was refused", "s3cr3t"), ("token=s3cr3ts3cr3t is bad", "s3cr3t"),
        ("the token: s3cr3ts3cr3t is bad", "s3cr3t"), (#"got "token":"s3cr3ts3cr3t" here"#, "s3cr3t"),
        ("GET https://h.example/l?token=s3cr3t&a=b failed", "s3cr3t"), ("for eyJhbGciOiJIUzI1NiJ9.e30.AAAA", "eyJ"),
        (String(repeating: "s3cr3t", count: 11), "s3cr3t"), ("x-auth:s3cr3ts3cr3t", "s3cr3t"),
    ])
    func `repeat no secret`(text: String, secret: String) {
        #expect(!text.inFewWords.contains(secret))
    }

    @Test(arguments: [
        "The token is 31 s old; it was good for 30 s.", "token expired", "Bearer token missing",
        "The token's “aud” is not the configured one.", "Error: contentId demo-1 unknown",
    ])
    func `without a secret stay unchanged`(text: String) {
        #expect(text.inFewWords == text)
    }

    /// The profiles that the finding names, and every other without its own place.
    @Test(arguments: VendorProfile.all.filter { $0.errors.message.isEmpty })
    func `reach the app from every vendor with no stated place`(profile: VendorProfile) {
        let wire = ProfileWire(profile)
        let error = wire.refusal(#"{"error":"no rights"}"#, status: 403, [("x-request-id", "r-1")])
        #expect(error?.service?.message == "no rights")
        #expect(error?.service?.requestID == "r-1")
        #expect(error?.reason.hasPrefix(#"The service answered 403, "no rights" (request r-1)."#) == true)
    }
}
