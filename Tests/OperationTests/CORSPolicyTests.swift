import LatchkeyCore
import LatchkeyHTTP
import LatchkeyOperation
import Testing

@Suite struct CORSPolicyTests {
    private static let page = "https://www.example.com"

    private func request(_ method: HTTPMethod = .post, origin: String? = page, preflight: Bool = false) -> HTTPRequest {
        var headers = HTTPHeaders()
        headers["Origin"] = origin
        if preflight { headers["Access-Control-Request-Method"] = "POST" }
        return HTTPRequest(method: method, target: "/t/a/fairplay", headers: headers)
    }

    @Test func `a preflight says what a page may send`() throws {
        let policy = try CORSPolicy(.listed([Self.page]), headers: ["X-AxDRM-Message", "authorization"])
        let response = try #require(policy.preflight(request(.options, preflight: true)))
        #expect(response.status == 204)
        #expect(response.headers["Access-Control-Allow-Origin"] == Self.page)
        #expect(response.headers["Access-Control-Allow-Methods"] == "POST, GET")
        #expect(
            response.headers["Access-Control-Allow-Headers"]
                == "Authorization, Content-Type, X-Request-Id, traceparent, X-AxDRM-Message")
        #expect(response.headers["Access-Control-Max-Age"] == "7200")
        #expect(response.headers["Vary"] == "Origin")
        #expect(policy.preflight(request()) == nil)
    }

    @Test func `a refusal may be read by the page too`() throws {
        let refusal = HTTPResponse(status: 403, headers: ["Vary": "Accept-Encoding"])
        let response = try CORSPolicy(.listed([Self.page]), allowsCredentials: true).allowing(refusal, for: request())
        #expect(response.status == 403)
        #expect(response.headers["Access-Control-Allow-Origin"] == Self.page)
        #expect(response.headers["Access-Control-Allow-Credentials"] == "true")
        let exposed =
            "X-Request-Id, Retry-After, X-Latchkey-Renew-After, X-Latchkey-Heartbeat-Token, X-Latchkey-Heartbeat"
        #expect(response.headers["Access-Control-Expose-Headers"] == exposed)
        #expect(response.headers["Vary"] == "Accept-Encoding, Origin")
    }

    @Test(arguments: [
        "https://www.example.com.evil.org", "http://www.example.com", "null", "https://WWW.example.com", nil,
    ])
    func `another origin gets no permission, and no cache mixes them up`(origin: String?) throws {
        let policy = try CORSPolicy(.listed([Self.page]))
        let response = policy.allowing(HTTPResponse(status: 200), for: request(origin: origin))
        #expect(response.headers["Access-Control-Allow-Origin"] == nil)
        #expect(response.headers["Vary"] == "Origin")
        let preflight = policy.preflight(request(.options, origin: origin, preflight: true))
        #expect(preflight?.status == 204)
        #expect(preflight?.headers["Access-Control-Allow-Methods"] == nil)
    }

    @Test func `a star stands for all pages, without credentials and without Vary`() throws {
        let response = try CORSPolicy(.any).allowing(HTTPResponse(status: 200), for: request())
        #expect(response.headers["Access-Control-Allow-Origin"] == "*")
        #expect(response.headers["Access-Control-Allow-Credentials"] == nil)
        #expect(response.headers["Vary"] == nil)
        #expect(throws: Diagnosis.credentialsFromAnywhere) { try CORSPolicy(.any, allowsCredentials: true) }
    }

    @Test(arguments: [
        "https://example.com/", "example.com", "https://", "null", "https://*.example.com", "https://Example.com",
        "https://a b",
    ])
    func `what is no origin is no policy`(origin: String) {
        #expect(throws: Diagnosis.origin(origin)) { try CORSPolicy(.listed([origin])) }
    }
}
