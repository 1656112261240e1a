public import Foundation

/// The parts of a `multipart/form-data` body.
///
/// Source: RFC 7578, RFC 2046 §5.1.
public struct MultipartForm: Sendable, Hashable {
    /// One field of the form.
    public struct Part: Sendable, Hashable {
        /// The field's name.
        public let name: String
        /// The header fields of the part.
        public let headers: HTTPHeaders
        /// The field's value.
        public let body: Data
    }

    /// The fields in order; at most 64.
    public let parts: [Part]

    /// - Parameter request: a request with a `multipart/form-data` body. The result is `nil` for another type, for a body
    ///   without its closing boundary, for a part without a name, and for more than 64 parts.
    public init?(_ request: HTTPRequest) {
        guard request.headers.mediaType == "multipart/form-data",
            let boundary = Self.parameter("boundary", of: request.headers[.contentType] ?? ""),
            !boundary.isEmpty, boundary.utf8.count <= 70
        else { return nil }
        self.init(request.body, boundary: boundary)
    }

    /// The value of the first field of a name.
    public subscript(_ name: String) -> Data? { parts.first { $0.name == name }?.body }

    private init?(_ body: Data, boundary: String) {
        // A line end before the first boundary makes all boundaries look alike.
        let body = Data("\r\n".utf8) + body
        let delimiter = Data("\r\n--\(boundary)".utf8)
        var parts: [Part] = []
        guard var start = body.range(of: delimiter)?.upperBound else { return nil }
        while !body[start...].starts(with: Data("--".utf8)) {
            guard parts.count < 64, let end = body.range(of: delimiter, in: start..<body.endIndex),
                let part = Self.part(body[start..<end.lowerBound])
            else { return nil }
            parts.append(part)
            start = end.upperBound
        }
        self.parts = parts
    }

    private static func part(_ bytes: Data) -> Part? {
        let blank = Data("\r\n\r\n".utf8)
        guard let end = bytes.range(of: blank) else { return nil }
        var headers = HTTPHeaders()
        for line in String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n") {
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2 { headers.append(HTTPHeaderName(pair[0].trimmingBlanks), pair[1].trimmingBlanks) }
        }
        guard let name = parameter("name", of: headers[.contentDisposition] ?? "") else { return nil }
        return Part(name: name, headers: headers, body: Data(bytes[end.upperBound...]))
    }

    /// A parameter of a header field, with or without quotes.
    private static func parameter(_ name: String, of header: String) -> String? {
        for parameter in header.split(separator: ";").dropFirst() {
            let pair = parameter.split(separator: "=", maxSplits: 1)
            guard pair.count == 2, pair[0].trimmingBlanks.equalsIgnoringCase(name) else { continue }
            let value = pair[1].trimmingBlanks
            return value.count > 1 && value.hasPrefix("\"") && value.hasSuffix("\"")
                ? String(value.dropFirst().dropLast()) : value
        }
        return nil
    }
}
