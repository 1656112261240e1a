/// The name of a header field. Names are equal regardless of letter case.
///
/// Not `RawRepresentable`, whose `!=` would compare the letters' case.
public struct HTTPHeaderName: Sendable, ExpressibleByStringLiteral {
    /// The name as written.
    public let rawValue: String

    /// - Parameter name: the name as written.
    public init(_ name: String) { rawValue = name }
    public init(stringLiteral value: String) { self.init(value) }
}

extension HTTPHeaderName {
    /// `Accept`.
    public static let accept: HTTPHeaderName = "Accept"
    /// `Accept-Ranges`.
    public static let acceptRanges: HTTPHeaderName = "Accept-Ranges"
    /// `Allow`.
    public static let allow: HTTPHeaderName = "Allow"
    /// `Authorization`.
    public static let authorization: HTTPHeaderName = "Authorization"
    /// `Cache-Control`.
    public static let cacheControl: HTTPHeaderName = "Cache-Control"
    /// `Connection`.
    public static let connection: HTTPHeaderName = "Connection"
    /// `Content-Disposition`.
    public static let contentDisposition: HTTPHeaderName = "Content-Disposition"
    /// `Content-Encoding`.
    public static let contentEncoding: HTTPHeaderName = "Content-Encoding"
    /// `Content-Length`.
    public static let contentLength: HTTPHeaderName = "Content-Length"
    /// `Content-Range`.
    public static let contentRange: HTTPHeaderName = "Content-Range"
    /// `Content-Type`.
    public static let contentType: HTTPHeaderName = "Content-Type"
    /// `Expect`.
    public static let expect: HTTPHeaderName = "Expect"
    /// `Host`.
    public static let host: HTTPHeaderName = "Host"
    /// `Location`.
    public static let location: HTTPHeaderName = "Location"
    /// `Range`.
    public static let range: HTTPHeaderName = "Range"
    /// The number of a request, which reply, error and log carry. No standard names it; many services send it.
    public static let requestID: HTTPHeaderName = "x-request-id"
    /// `Retry-After`.
    public static let retryAfter: HTTPHeaderName = "Retry-After"
    /// `Transfer-Encoding`.
    public static let transferEncoding: HTTPHeaderName = "Transfer-Encoding"
}

extension HTTPHeaderName: Hashable {
    public static func == (one: Self, other: Self) -> Bool { one.rawValue.equalsIgnoringCase(other.rawValue) }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue.lowercased()) }
}

extension HTTPHeaderName: CustomStringConvertible {
    public var description: String { rawValue }
}

extension String {
    /// Whether two texts are the same but for the case of ASCII letters. Makes no new strings.
    func equalsIgnoringCase(_ other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return self == other || zip(utf8, other.utf8).allSatisfy { Self.lower($0) == Self.lower($1) }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}
