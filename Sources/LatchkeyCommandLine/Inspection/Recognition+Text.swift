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
        if text.hasPrefix("{") || text.hasPrefix("[") || text.hasPrefix("\"") { return ofJSON(text, depth) }
        return ofEncoding(text, depth) ?? ofForm(text, depth) ?? ofToken(text)
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
        let found = fields.map { ($0.0, Recognition(Data($0.1.utf8), depth: depth - 1)) }
        guard let best = found.first(where: { $0.1.isTelling }) ?? found.first(where: { $0.0.lowercased() == "spc" })
        else {
            return nil
        }
        return .form(field: best.0, best.1)
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
