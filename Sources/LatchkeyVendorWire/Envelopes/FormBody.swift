package import Foundation

/// The fields of an `application/x-www-form-urlencoded` body.
///
/// Decoded as forms are: a `+` is a blank. `VendorRequest.spc(in:)` restores the `+` of unescaped base64.
///
/// Source: WHATWG URL §5.1, `Documentation/Vendors/README.md` §0.
package struct FormBody: Sendable {
    /// The maximum number of fields, above which a body is refused: 100.
    package static let limit = 100

    /// The fields in order and with duplicates, names and values decoded. The value of a field without `=` is `nil`.
    package let fields: [(name: String, value: String?)]

    /// - Parameter body: the body. The result is `nil` if it is not UTF-8 or has more than `limit` fields.
    /// - Complexity: linear in the bytes.
    package init?(_ body: Data) {
        let separator = UInt8(ascii: "&")
        guard String(bytes: body, encoding: .utf8) != nil else { return nil }
        // Splits off one field more than the limit and leaves the rest of the body whole.
        let parts = body.split(separator: separator, maxSplits: Self.limit)
        guard parts.count <= Self.limit else { return nil }
        fields = parts.map { field in
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return (Self.decoded(parts.first), parts.count > 1 ? Self.decoded(parts.last) : nil)
        }
    }

    /// The first value of a field, regardless of letter case, or `nil`.
    package subscript(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() && $0.value != nil }?.value
    }

    /// `+` becomes a blank, and `%` with two digits a byte. A field that is not UTF-8 then keeps its escapes.
    private static func decoded(_ bytes: Data?) -> String {
        let plain = (bytes ?? Data()).map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        guard plain.contains(UInt8(ascii: "%")) else { return String(decoding: plain, as: UTF8.self) }
        var decoded: [UInt8] = []
        var index = 0
        while index < plain.count {
            if plain[index] == UInt8(ascii: "%"), let byte = byte(plain[(index + 1)...].prefix(2)) {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(plain[index])
                index += 1
            }
        }
        return String(bytes: decoded, encoding: .utf8) ?? String(decoding: plain, as: UTF8.self)
    }

    private static func byte(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let values = digits.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        return values.count == 2 ? UInt8(values[0] << 4 | values[1]) : nil
    }
}
