import LatchkeyHTTP
import LatchkeyVendorWire

/// Cross-origin resource sharing: a page of any origin may send requests and read the replies, without the browser's own credentials.
///
/// Source: Fetch Standard, "CORS protocol", https://fetch.spec.whatwg.org/#http-cors-protocol
enum CrossOrigin {
    /// The answer to a browser's preflight request; `nil` for any other request.
    static func preflight(_ request: HTTPRequest) -> HTTPResponse? {
        guard request.method == .options, request.headers["Access-Control-Request-Method"] != nil else { return nil }
        var headers: HTTPHeaders = ["Access-Control-Allow-Methods": "GET, HEAD, POST", "Access-Control-Max-Age": "600"]
        // Repeats only field names, which are tokens.
        if let asked = request.headers["Access-Control-Request-Headers"],
            asked.isMadeOfLettersDigits(and: "!#$%&'*+.^_`|~, -", limit: 2_000)
        {
            headers["Access-Control-Allow-Headers"] = asked
        }
        return HTTPResponse(status: 204, headers: headers)
    }

    /// The reply, which pages may read with all its header fields.
    static func allowed(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] = "*"
        return response
    }
}
