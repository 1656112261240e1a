import LatchkeyCore
package import LatchkeyHTTP

/// The name of one request, which its reply, its refusal, its log lines and its decision record carry.
///
/// Source: `Documentation/LicenseServer.md` §9.4.
package struct RequestID: Sendable, Hashable, CustomStringConvertible {
    /// 8 to 128 of `A-Z a-z 0-9 . _ -`.
    package let text: String

    /// - Parameter text: the result is `nil` unless it is 8 to 128 of `A-Z a-z 0-9 . _ -`.
    package init?(_ text: String) {
        guard 8...128 ~= text.utf8.count, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    /// A new one: a random UUID by the system's generator.
    package init() {
        var generator = SystemRandomNumberGenerator()
        self.init(using: &generator)
    }

    /// A new one: a random UUID, a point, and the node's name, so that everyone knows which node to ask about the request.
    /// - Parameter node: the node's name as ``nodeName(_:)`` makes it. Defaults to none: then the UUID is all.
    package init(using generator: inout some RandomNumberGenerator, node: String? = nil) {
        var bytes = generator.bytes(16)
        for (index, byte) in bytes.enumerated() {
            // Version 4, and the variant of RFC 9562.
            if index == 6 { bytes[index] = byte & 0x0f | 0x40 }
            if index == 8 { bytes[index] = byte & 0x3f | 0x80 }
        }
        let uuid = KeyID(bytes: bytes)?.description ?? bytes.hexString
        text = node.map { "\(uuid).\($0)" } ?? uuid
    }

    /// A node's name as used in its requests' names: 64 characters at most, and a dash for each disallowed character.
    package static func nodeName(_ name: String) -> String {
        String(decoding: name.utf8.prefix(64).map { isAllowed($0) ? $0 : UInt8(ascii: "-") }, as: UTF8.self)
    }

    /// The name of the node that made this identifier; `nil` if it came from outside.
    package var node: String? {
        let parts = text.split(separator: ".", maxSplits: 1)
        guard parts.count == 2, parts[0].utf8.count == 36, KeyID(String(parts[0])) != nil else { return nil }
        return String(parts[1])
    }

    /// The identifier in a request's `X-Request-Id`, or a new one by the system's generator.
    package init(of request: HTTPRequest, node: String? = nil) {
        var generator = SystemRandomNumberGenerator()
        self.init(of: request, using: &generator, node: node)
    }

    /// The identifier in a request's `X-Request-Id`, or a new one.
    package init(of request: HTTPRequest, using generator: inout some RandomNumberGenerator, node: String? = nil) {
        self = request.headers[.requestID].flatMap { RequestID($0) } ?? RequestID(using: &generator, node: node)
    }

    package var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
