import Foundation
import LatchkeyCore
import LatchkeyVendors

// Text that was taken for bytes: PEM, pages, playlists, tokens, and encodings of something else.
extension Recognition {
    static func ofText(_ text: String, _ depth: Int) -> Recognition {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines.union(["\u{feff}"]))
        if text.isEmpty { return .empty }
        if text.hasPrefix("-----BEGIN ") { return ofPEM(text) }
        if text.hasPrefix("#EXTM3U") { return .playlist }
        if text.hasPrefix("<") { return .webPage }
        guard depth > 0 else { return .text }
        if text.hasPrefix("data:"), let comma = text.firstIndex(of: ","), text[..<comma].hasSuffix(";base64") {
            return .base64(ofText(String(text[comma...].dropFirst()), depth).core)
        }
        if text.hasPrefix("{") || text.hasPrefix("[") || text.hasPrefix("\"") { return ofJSON(text, depth) }
        return ofEncoding(text, depth) ?? ofNumbers(text, depth) ?? ofForm(text, depth) ?? ofPercents(text, depth)
            ?? ofParts(text, depth) ?? ofToken(text)
    }

    /// Bytes as numbers: `48,130,1`.
    private static func ofNumbers(_ text: String, _ depth: Int) -> Recognition? {
        guard text.utf8.count >= 32, text.utf8.allSatisfy({ "0123456789, \r\n".utf8.contains($0) }) else { return nil }
        let numbers = text.split(whereSeparator: { !$0.isNumber }).map { UInt8($0) }
        let bytes = numbers.compactMap(\.self)
        guard text.contains(","), bytes.count == numbers.count else { return nil }
        return .numbers(Recognition(Data(bytes), depth: depth - 1))
    }

    private static func ofPercents(_ text: String, _ depth: Int) -> Recognition? {
        guard text.contains("%"), let decoded = text.removingPercentEncoding, decoded != text else { return nil }
        let inside = Recognition(Data(decoded.utf8), depth: depth - 1)
        return inside.isTelling ? .percentEncoded(inside) : nil
    }

    /// A form of parts, `multipart/form-data`.
    private static func ofParts(_ text: String, _ depth: Int) -> Recognition? {
        guard text.hasPrefix("--"), let end = text.firstIndex(where: \.isNewline) else { return nil }
        let fields = text.components(separatedBy: text[..<end]).prefix(64).compactMap { part -> (String, String)? in
            guard let name = part.firstMatch(of: /; ?name="([^"]{0,40})"/)?.1,
                let head = ["\r\n\r\n", "\n\n"].lazy.compactMap({ part.range(of: $0, options: .literal) }).first
            else { return nil }
            return (String(name), part[head.upperBound...].trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return telling(fields, depth)
    }

    private static func ofPEM(_ text: String) -> Recognition {
        let label = text.dropFirst("-----BEGIN ".count).prefix { $0 != "-" && !$0.isNewline }.prefix(40)
        return label.contains("PRIVATE KEY") ? .privateKey : .pem(label: String(label))
    }

    /// Hexadecimal digits before base64, because every one of them is base64 too.
    private static func ofEncoding(_ text: String, _ depth: Int) -> Recognition? {
        let digits = text.filter { !$0.isWhitespace && $0 != ":" }
        if digits.utf8.count >= 32, let bytes = Data(hexString: digits) {
            return .hexadecimal(Recognition(bytes, depth: depth - 1))
        }
        guard TokenFormat.detect(text) == .opaque, let bytes = Data(lenientBase64: text) else { return nil }
        let inside = Recognition(bytes, depth: depth - 1)
        // Any word of letters is base64 of something; a long one without a word's end is meant as such.
        let isMeant = text.utf8.count >= 256 && !text.contains(" ")
        return inside.isTelling || isMeant ? .base64(inside) : nil
    }

    private static func ofForm(_ text: String, _ depth: Int) -> Recognition? {
        let fields = text.prefix(1 << 20).split(separator: "&", maxSplits: 64).compactMap {
            field -> (String, String)? in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].wholeMatch(of: /[A-Za-z_][A-Za-z0-9_.\-]{0,39}/) != nil else { return nil }
            let value = parts[1].replacing("+", with: " ")
            return (String(parts[0]), value.removingPercentEncoding ?? String(value))
        }
        return telling(fields, depth)
    }

    /// The form whose field holds what is exchanged for a key.
    private static func telling(_ fields: [(String, String)], _ depth: Int) -> Recognition? {
        let found = fields.map { ($0.0, Recognition(Data($0.1.utf8), depth: depth - 1)) }
        return (found.first { $0.1.isTelling } ?? found.first { $0.0.lowercased() == "spc" })
            .map { .form(field: $0.0, $0.1) }
    }

    private static func ofJSON(_ text: String, _ depth: Int) -> Recognition {
        guard text.utf8.count <= 1 << 20, nesting(of: text) <= 32,
            let value = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        else { return .json(field: nil, .text) }
        let texts = texts(in: value, named: nil).prefix(256)
        let found = texts.lazy.map { ($0.0, Recognition(Data($0.1.utf8), depth: depth - 1)) }.first { $0.1.isTelling }
        return .json(field: found?.0, found?.1 ?? .text)
    }

    /// How deep brackets are nested, so that no parser recurses for long.
    private static func nesting(of text: String) -> Int {
        var (depth, deepest) = (0, 0)
        for byte in text.utf8 {
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { depth += 1 }
            if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { depth -= 1 }
            deepest = max(deepest, depth)
        }
        return deepest
    }

    private static func texts(in value: Any, named name: String?) -> [(String, String)] {
        switch value {
        case let text as String: [(String((name ?? "").prefix(40)), text)]
        case let list as [NSNumber] where list.count >= 32:
            [(String((name ?? "").prefix(40)), list.map(\.stringValue).joined(separator: ","))]
        case let list as [Any]: list.prefix(256).flatMap { texts(in: $0, named: name) }
        case let object as [String: Any]:
            object.sorted { $0.key < $1.key }.prefix(256).flatMap { texts(in: $0.value, named: $0.key) }
        default: []
        }
    }

    private static func ofToken(_ text: String) -> Recognition {
        let format = TokenFormat.detect(TokenText(text).token)
        return format == .opaque ? .text : .token(format)
    }

    /// Whether it is one of the things that are exchanged for a key.
    var isTelling: Bool {
        switch core {
        case .spc, .ckc, .cutShort, .certificate, .privateKey, .pkcs12, .pem: true
        default: false
        }
    }
}

/// A token as people copy it: perhaps with the header's name, the word Bearer, or quotation marks around it.
struct TokenText {
    /// The token alone.
    let token: String
    /// Whether the word Bearer stood before it.
    let hasBearer: Bool

    init(_ text: String) {
        var token = text.trimmingCharacters(in: .newlines)[...]
        for prefix in ["authorization:", "bearer "] where token.lowercased().hasPrefix(prefix) {
            token = token.dropFirst(prefix.count).drop { $0 == " " }
        }
        hasBearer = text.lowercased().contains("bearer ") && token.count < text.count
        if token.count > 1, token.hasPrefix("\""), token.hasSuffix("\"") { token = token.dropFirst().dropLast() }
        self.token = String(token)
    }
}
