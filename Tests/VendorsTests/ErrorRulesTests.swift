import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@_spi(Integrations) @testable import LatchkeyVendors

@Suite struct ErrorRulesTests {
    private func error(_ rules: ErrorRules, _ reply: HTTPReply) -> IntegrationError? {
        do throws(IntegrationError) {
            try rules.check(reply)
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        (400, Diagnosis.Kind.invalidRequest, false), (401, .unauthenticated, false), (403, .forbidden, false),
        (404, .notFound, false), (408, .serverTransient, true), (410, .notFound, false), (418, .invalidRequest, false),
        (425, .serverTransient, true), (429, .rateLimited, true), (451, .regionDenied, false),
        (500, .serverTransient, true), (501, .serverPermanent, false), (502, .serverTransient, true),
        (503, .serverTransient, true), (504, .serverTransient, true), (505, .serverPermanent, false),
        (302, .redirected, false), (204, .licenseMalformed, true), (100, .invalidRequest, false),
        (999, .serverTransient, true),
    ])
    func `a status gives the failure and whether to retry`(
        status: Int, kind: Diagnosis.Kind, isRetryable: Bool
    ) {
        let error = error(ErrorRules(), HTTPReply(status: status))
        #expect(error?.kind == kind)
        #expect(error?.isRetryable == isRetryable)
        #expect(error?.service?.status == status)
    }

    static let rules = ErrorRules(
        successes: [200, 201], code: [.header("X-Code"), .json("error.code")], message: [.json("error.text")],
        requestID: ["X-Trace"], kinds: ["17": .concurrencyLimit, "geo": .regionDenied], refusesWithSuccess: true)

    @Test func `the vendor's code outranks the status`() {
        let body = Data(#"{"error":{"code":17,"text":"Too many\n streams"}}"#.utf8)
        let reply = HTTPReply(status: 403, headers: [("x-trace", "t-1")], body: body)
        let error = error(Self.rules, reply)
        #expect(error?.kind == .concurrencyLimit)
        #expect(error?.service == ServiceReply(status: 403, code: "17", message: "Too many streams", requestID: "t-1"))
        #expect(error?.reason == "The service answered 403, code 17, \"Too many streams\" (request t-1).")
    }

    @Test func `a code in a reply of status 200 is a refusal only if the rules say so`() {
        let reply = HTTPReply(status: 200, headers: [("X-CODE", "geo")])
        #expect(error(Self.rules, reply)?.kind == .regionDenied)
        #expect(error(ErrorRules(), reply) == nil)
        #expect(error(Self.rules, HTTPReply(status: 201)) == nil)
    }

    @Test func `a vendor's words are cut, and non-words are left out`() {
        let token = String(repeating: "abc.", count: 40)
        let body = Data(
            #"{"error":{"text":"The token \#(token) is bad\#(String(repeating: " very", count: 200))"}}"#.utf8)
        let message = error(Self.rules, HTTPReply(status: 400, body: body))?.service?.message
        #expect(message?.hasPrefix("The token ‹160 characters› is bad very") == true)
        #expect(message?.count == 300)
    }

    @Test(
        arguments: [
            ("120", 120), (" 0 ", 0), ("99999999999999999999999999", 31_536_000), ("1e300", nil), ("-1", nil),
            ("nan", nil),
            ("inf", nil), ("0x10", nil), ("", nil), ("Fri, 21 Nov 2025 10:00:30 GMT", 30),
            ("Fri, 21 Nov 2025 09:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 31_536_000), ("soon", nil),
        ] as [(String, Double?)])
    func `Retry-After is seconds, or a date relative to the reply's`(value: String, expected: Double?) {
        let headers = [("Retry-After", value), ("Date", "Fri, 21 Nov 2025 10:00:00 GMT")]
        let reply = HTTPReply(status: 503, headers: headers.map { (name: $0.0, value: $0.1) })
        #expect(error(ErrorRules(), reply)?.service?.retryAfter == expected)
    }

    @Test func `a Retry-After date without the reply's date is ignored`() {
        let reply = HTTPReply(status: 503, headers: [("Retry-After", "Fri, 21 Nov 2025 10:00:30 GMT")])
        #expect(error(ErrorRules(), reply)?.service?.retryAfter == nil)
    }

    @Test(arguments: Diagnosis.Kind.all.filter { 200..<300 ~= $0.number })
    func `each kind has a remedy of one sentence`(kind: Diagnosis.Kind) {
        let error = IntegrationError(kind, "Reason.")
        #expect(error.remedy.hasSuffix(".") && error.remedy.dropLast().contains(". ") == false)
        #expect(error.description == "\(kind.rawValue): Reason. \(error.remedy)")
    }
}
