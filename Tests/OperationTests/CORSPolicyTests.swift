import LatchkeyCore
import LatchkeyHTTP
import LatchkeyLicensing
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
        let methods: [HTTPMethod] = [.post, .delete]
        let response = try #require(policy.preflight(request(.options, preflight: true), methods: methods))
        #expect(response.status == 204)
        #expect(response.headers["Access-Control-Allow-Origin"] == Self.page)
        #expect(response.headers["Access-Control-Allow-Methods"] == "POST, DELETE")
        #expect(
            response.headers["Access-Control-Allow-Headers"]
                == "Authorization, Content-Type, X-Request-Id, traceparent, X-AxDRM-Message")
        #expect(response.headers["Access-Control-Max-Age"] == "7200")
        #expect(response.headers["Vary"] == "Origin")
        #expect(policy.preflight(request(), methods: methods) == nil)
        #expect(policy.preflight(request(.options, preflight: true), methods: []) == nil, "There is no such path.")
        #expect(policy.preflight(request(.options), methods: methods)?.headers[.allow] == "POST, DELETE, OPTIONS")
    }

    @Test func `a refusal and all its header fields are readable by the page`() throws {
        let refusal = HTTPResponse(
            status: 403,
            headers: [
                "Vary": "Accept-Encoding", .contentType: "text/plain", .cacheControl: "no-store", .retryAfter: "1",
                "X-AxDRM-ErrorMessage": "a vendor's own", .connection: "close",
            ])
        let response = try CORSPolicy(.listed([Self.page]), allowsCredentials: true).allowing(refusal, for: request())
        #expect(response.status == 403)
        #expect(response.headers["Access-Control-Allow-Origin"] == Self.page)
        #expect(response.headers["Access-Control-Allow-Credentials"] == "true")
        #expect(response.headers["Access-Control-Expose-Headers"] == "Retry-After, X-AxDRM-ErrorMessage")
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
        let preflight = policy.preflight(request(.options, origin: origin, preflight: true), methods: [.post])
        #expect(preflight?.status == 204)
        #expect(preflight?.headers["Access-Control-Allow-Methods"] == nil)
    }

    @Test func `a star allows all pages, without credentials and Vary`() throws {
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
    func `an invalid origin is rejected`(origin: String) {
        #expect(throws: Diagnosis.origin(origin)) { try CORSPolicy(.listed([origin])) }
    }
}
