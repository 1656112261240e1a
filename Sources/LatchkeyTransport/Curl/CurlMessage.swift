import CCurl
import Foundation
import FoundationNetworking
import LatchkeyCore

/// A checked request. libcurl itself would send a line break in a field unchanged.
struct CurlMessage: Sendable {
    let url: URL
    let method: String
    /// Header fields in libcurl's form: `Name: value`, and `Name;` for an empty value.
    let lines: [String]
    let body: Data?
    /// The maximum time until the head is complete, and between two pieces of the body.
    let patience: Duration

    /// - Throws: `requestMalformed`. Its text names the header field, never the value.
    init(_ request: URLRequest) throws(TransportError) {
        guard let url = request.url, let host = Self.host(of: url) else {
            throw TransportError(.requestMalformed, "The request has no http or https URL with a host.")
        }
        guard Self.seenByCurl(url) == Destination(scheme: url.scheme?.lowercased() ?? "", host: host, port: url.port)
        else {
            throw TransportError(.requestMalformed, "The URL's host is written ambiguously.")
        }
        guard request.httpBodyStream == nil || request.httpBody != nil else {
            throw TransportError(.requestMalformed, "The request's body is a stream; only data is sent.")
        }
        self.url = url
        method = request.httpMethod ?? "GET"
        guard Self.isToken(method) else {
            throw TransportError(.requestMalformed, "The request's method is not an HTTP method.")
        }
        lines = try Self.lines(request.allHTTPHeaderFields ?? [:])
        body = request.httpBody
        let seconds = request.timeoutInterval
        patience = Duration(clampingSeconds: seconds > 0 ? seconds : 60) ?? .seconds(60)
    }

    /// Host and port, for errors. A name from a playlist may contain anything, so unprintable characters are removed.
    var place: String {
        let host = (Self.host(of: url) ?? "").unicodeScalars.filter {
            $0.isASCII && $0.value > 0x20 && $0.value != 0x7f
        }
        let name = String(String.UnicodeScalarView(host)).prefix(100)
        return "\(name.contains(":") ? "[\(name)]" : "\(name)"):\(url.port ?? (isSecure ? 443 : 80))"
    }

    var isSecure: Bool { url.scheme?.lowercased() == "https" }

    var isLoopback: Bool {
        let host = Self.host(of: url) ?? ""
        return host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    /// Whether libcurl sends a body, possibly an empty one.
    var hasBody: Bool { method == "POST" || body != nil }

    private static func lines(_ fields: [String: String]) throws(TransportError) -> [String] {
        var lines: [String] = []
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            guard isToken(name) else {
                throw TransportError(.requestMalformed, "A header field of the request has an invalid name.")
            }
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 }) else {
                throw TransportError(
                    .requestMalformed, "The header field \(name.prefix(60)) holds a line break or a control character.")
            }
            let value = value.trimmingCharacters(in: .whitespaces)
            lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        return lines
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    private static func host(of url: URL) -> String? {
        guard ["http", "https"].contains(url.scheme?.lowercased()),
            let host = url.host(percentEncoded: true)?.lowercased().trimmingCharacters(in: ["[", "]"]), !host.isEmpty
        else { return nil }
        return host
    }
}

// MARK: - Whether both URL parsers agree

extension CurlMessage {
    /// The destination of a request.
    struct Destination: Equatable {
        let scheme: String
        let host: String
        /// `nil` if the URL states no port.
        let port: Int?
    }

    /// The destination according to libcurl. A host policy checks the host that Foundation parses, so both must agree.
    private static func seenByCurl(_ url: URL) -> Destination? {
        guard let parts = curl_url() else { return nil }
        defer { curl_url_cleanup(parts) }
        guard curl_url_set(parts, CURLUPART_URL, url.absoluteString, UInt32(CURLU_PATH_AS_IS)) == CURLUE_OK,
            let scheme = text(CURLUPART_SCHEME, of: parts), let host = text(CURLUPART_HOST, of: parts)
        else { return nil }
        return Destination(
            scheme: scheme.lowercased(), host: host.lowercased().trimmingCharacters(in: ["[", "]"]),
            port: text(CURLUPART_PORT, of: parts).flatMap { Int($0) })
    }

    private static func text(_ part: CURLUPart, of parts: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(parts, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
