import Foundation
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

    /// A new one: a random UUID.
    package init() { text = UUID().uuidString.lowercased() }

    /// The one that a request brings in `X-Request-Id`, or a new one.
    package init(of request: HTTPRequest) {
        self = request.headers[.requestID].flatMap { RequestID($0) } ?? RequestID()
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
