public import Foundation

/// The fields of an `application/x-www-form-urlencoded` body.
///
/// Decoded as forms are: a `+` is a blank. `ServiceCall.spc(in:)` mends what that does to unescaped base64.
///
/// Source: WHATWG URL §5.1, `vendors.md` §0.
public struct FormBody: Sendable {
    /// The fields in order, duplicates kept, names and values decoded; the value is nil where a field has no `=`.
    public let fields: [(name: String, value: String?)]

    /// - Parameter body: the body; nil comes back where it is not UTF-8.
    public init?(_ body: Data) {
        guard let text = String(data: body, encoding: .utf8) else { return nil }
        fields = text.utf8.split(separator: UInt8(ascii: "&")).map { field in
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(parts.first), parts.count > 1 ? Self.decoded(parts.last) : nil)
        }
    }

    /// The first value of a field, found without regard to letter case; nil where it is absent or has no `=`.
    public subscript(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() && $0.value != nil }?.value
    }

    private static func decoded(_ bytes: Substring.UTF8View?) -> String {
        let text = String(Substring(bytes ?? Substring().utf8)).replacing("+", with: " ")
        return text.removingPercentEncoding ?? text
    }
}
