public import Foundation
public import LatchkeyCore

/// Replaces key URIs in a playlist and leaves every other byte unchanged.
///
/// Only the `URI` of `EXT-X-KEY` and `EXT-X-SESSION-KEY` tags of FairPlay's key format changes. Works on the text, line by
/// line; a malformed tag stays unchanged.
///
/// Source: `Documentation/HLS.md`, RFC 8216 §4.3.2.4.
public struct PlaylistKeyRewriting: Sendable {
    private let rule: @Sendable (KeyURI) -> String?

    /// - Parameter rule: the replacement of a URI; `nil` leaves it.
    public init(_ rule: @escaping @Sendable (KeyURI) -> String?) { self.rule = rule }

    /// The playlist with its key URIs replaced.
    public func rewritten(_ playlist: Data) -> Data {
        let lines = playlist.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return Data(lines.map(rewritten(line:)).joined(separator: [UInt8(ascii: "\n")]))
    }

    private func rewritten(line: Data) -> Data {
        let tags = ["#EXT-X-KEY:", "#EXT-X-SESSION-KEY:"]
        guard let tag = tags.first(where: { line.starts(with: Data($0.utf8)) }),
            let text = String(data: line, encoding: .utf8)
        else { return line }
        let attributes = Self.quotedAttributes(text.dropFirst(tag.count))
        let format = attributes.first { $0.name == "KEYFORMAT" }?.value
        guard format == "com.apple.streamingkeydelivery", let uri = attributes.first(where: { $0.name == "URI" }),
            let replacement = rule(KeyURI(String(uri.value))), Self.fitsInQuotes(replacement)
        else { return line }
        return Data(text.replacingCharacters(in: uri.value.startIndex..<uri.value.endIndex, with: replacement).utf8)
    }

    /// Compares bytes, because a carriage return and a line feed are one character.
    private static func fitsInQuotes(_ text: String) -> Bool {
        !text.utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") }
    }

    /// The attributes of a list whose values are in quotes. A name inside the quotes of another attribute does not count.
    private static func quotedAttributes(_ list: Substring) -> [(name: Substring, value: Substring)] {
        var attributes: [(name: Substring, value: Substring)] = []
        var rest = list
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].drop { $0 == "," || $0 == " " }
            rest = rest[equals...].dropFirst()
            guard rest.first == "\"" else {
                rest = rest.drop { $0 != "," }
                continue
            }
            rest = rest.dropFirst()
            guard let quote = rest.firstIndex(of: "\"") else { break }
            attributes.append((name, rest[..<quote]))
            rest = rest[quote...].dropFirst()
        }
        return attributes
    }
}
