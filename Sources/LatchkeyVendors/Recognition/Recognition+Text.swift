import Foundation
import LatchkeyCore

// Text that was taken for bytes: PEM, pages, playlists, tokens, and encodings of something else.
extension Recognition {
    /// - Parameter bytes: the bytes of the text, which may begin with a byte order mark.
    static func ofText(_ whole: String, _ bytes: [UInt8], _ depth: Int) -> Recognition {
        let text = whole.withoutOuterSpace
        let found = ofTrimmed(text.hasPrefix("\u{feff}") ? String(text.dropFirst()).withoutOuterSpace : text, depth)
        let isMarked = bytes.starts(with: byteOrderMark) && found.isTelling
        return isMarked ? .preceded(by: .byteOrderMark, found) : found
    }

    private static func ofTrimmed(_ text: String, _ depth: Int) -> Recognition {
        if text.isEmpty { return .empty }
        if text.hasPrefix("#EXTM3U") { return .playlist }
        if text.hasPrefix("version https://git-lfs.github.com/spec/") { return .pointer }
        if let found = ofPEM(text) { return found }
        if let word = placeholder(text) { return .placeholder(word) }
        if text.hasPrefix("<") { return ofMarkup(text, depth) }
        let isJSON = "{[\"".utf8.contains(text.utf8.first ?? 0)
        guard depth > 0 else { return isJSON ? .json(field: nil, .text) : .text }
        if let found = ofDataURI(text, depth) { return found }
        if isJSON { return ofJSON(text, depth) }
        if text.hasPrefix("'"), text.hasSuffix("'"), text.utf8.count > 1 {
            return .quoted(ofTrimmed(String(text.dropFirst().dropLast()), depth - 1))
        }
        return ofEncoding(text, depth) ?? ofNumbers(text, depth) ?? ofForm(text, depth) ?? ofPercents(text, depth)
            ?? ofParts(text, depth) ?? ofToken(text)
    }

    /// The texts that programs write for a value that they do not have or cannot write.
    package static let placeholders: Set = [
        "undefined", "null", "nil", "(null)", "NaN", "None", "[object Object]", "[object ArrayBuffer]",
        "[object Uint8Array]", "[object Blob]", "[object Promise]", "[object Response]",
    ]

    private static func placeholder(_ text: String) -> String? {
        if placeholders.contains(text) { return text }
        if text.hasPrefix("{length = ") { return "{length = …}" }
        let isCount = text.utf8.count <= 16 && text.hasSuffix(" bytes") && text.dropLast(6).allSatisfy(\.isWholeNumber)
        return isCount ? text : nil
    }

    private static func ofPEM(_ text: String) -> Recognition? {
        guard Array(text.utf8).place(of: Array("-----BEGIN ".utf8)) != nil,
            let mark = text.range(of: "-----BEGIN ", options: .literal),
            text[..<mark.lowerBound].last?.isNewline != false
        else { return nil }
        let label = String(text[mark.upperBound...].prefix { $0 != "-" && !$0.isNewline }.prefix(40))
        if label.contains("PRIVATE KEY") { return .privateKey }
        if label == "CERTIFICATE", text.range(of: "PRIVATE KEY-----", options: .literal) != nil {
            return .pem(label: certificateWithKey)
        }
        guard label == "CERTIFICATE" else { return .pem(label: label.inFewWords) }
        let isWhole = certificate(inPEM: text).map { Recognition($0, depth: 0) } == .certificate
        return .pem(label: isWhole ? label : "CERTIFICATE without one inside")
    }

    /// The label of PEM text with a certificate followed by its private key.
    static let certificateWithKey = "CERTIFICATE and PRIVATE KEY"

    /// The content of the first `CERTIFICATE` block, or `nil`.
    static func certificate(inPEM text: String) -> Data? {
        guard let begin = text.range(of: "-----BEGIN CERTIFICATE-----", options: .literal),
            let end = text[begin.upperBound...].range(of: "-----", options: .literal)
        else { return nil }
        return Data(lenientBase64: String(text[begin.upperBound..<end.lowerBound]))
    }

    private static func ofDataURI(_ text: String, _ depth: Int) -> Recognition? {
        guard text.prefix(5).lowercased() == "data:", let comma = text.firstIndex(of: ",") else { return nil }
        let content = String(text[comma...].dropFirst())
        let isBase64 = text[..<comma].lowercased().hasSuffix(";base64")
        let bytes = isBase64 ? Data(lenientBase64: content) : content.removingPercentEncoding.map { Data($0.utf8) }
        return bytes.map { .dataURI(Recognition($0, depth: depth - 1)) }
    }

    /// Hexadecimal digits before base64, because every one of them is base64 too.
    private static func ofEncoding(_ text: String, _ depth: Int) -> Recognition? {
        if let bytes = hexadecimal(text) { return .hexadecimal(Recognition(bytes, depth: depth - 1)) }
        guard TokenFormat.detect(text) == .opaque, let bytes = Data(lenientBase64: text) else { return nil }
        let inside = Recognition(bytes, depth: depth - 1)
        if inside.isTelling { return .base64(inside) }
        // Any word of letters is base64 of something; a long one of all kinds without a word's end is meant as such.
        guard !text.contains(" "), text.utf8.count >= 24 else { return nil }
        switch inside {
        case .webPage, .xml, .json, .gzip, .media, .bundle, .laterVersion: return .base64(inside)
        default:
            let kinds: [ClosedRange<Unicode.Scalar>] = ["a"..."z", "A"..."Z", "0"..."9"]
            let isMixed = kinds.allSatisfy { kind in text.unicodeScalars.contains { kind.contains($0) } }
            return isMixed && text.utf8.count >= 256 ? .base64(inside) : nil
        }
    }

    /// The bytes of 32 digits or more, perhaps with `:`, white space or `0x` between them; the last digit of an odd number is left out.
    private static func hexadecimal(_ text: some StringProtocol) -> Data? {
        let isListed = text.utf8.starts(with: "0x".utf8) || text.utf8.starts(with: "0X".utf8)
        var digits: [UInt8] = []
        for byte in text.utf8 {
            if " \t\r\n:".utf8.contains(byte) || isListed && byte == UInt8(ascii: ",") { continue }
            if let value = HexDigit.value(of: byte) {
                digits.append(value)
            } else if isListed, byte | 0x20 == UInt8(ascii: "x"), digits.last == 0 {
                digits.removeLast()
            } else {
                return nil
            }
        }
        guard digits.count >= 32 else { return nil }
        return Data(stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// Bytes as numbers: `48,130,1`, or with a sign, `48,-126,1`.
    private static func ofNumbers(_ text: String, _ depth: Int) -> Recognition? {
        guard text.utf8.count >= 32, text.utf8.allSatisfy({ "0123456789-, \r\n".utf8.contains($0) }), text.contains(",")
        else { return nil }
        return numbers(text.split { ", \r\n".contains($0) || $0.isNewline }.map { Int($0) }, depth)
    }

    private static func numbers(_ list: [Int?], _ depth: Int) -> Recognition? {
        let bytes = list.compactMap { number in
            number.flatMap { (-128...255).contains($0) ? UInt8(truncatingIfNeeded: $0) : nil }
        }
        return bytes.count == list.count ? .numbers(Recognition(Data(bytes), depth: depth - 1)) : nil
    }

    private static func ofPercents(_ text: String, _ depth: Int) -> Recognition? {
        guard text.utf8.contains(UInt8(ascii: "%")), let decoded = text.removingPercentEncoding, decoded != text else {
            return nil
        }
        let inside = Recognition(decoded, depth: depth - 1)
        return inside.isTelling ? .percentEncoded(inside) : nil
    }

    private static func ofForm(_ text: String, _ depth: Int) -> Recognition? {
        let fields = text.pieces(at: "&", maxSplits: 64).compactMap { field -> (String, String)? in
            let parts = field.pieces(at: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].isFieldName else { return nil }
            // Base64 may end in a “+” that some clients do not escape, and a blank there is not part of a value.
            let isBase64 = parts[1].hasSuffix("+") && Data(base64Encoded: String(parts[1]).withoutPercents) != nil
            let value = isBase64 ? String(parts[1]) : parts[1].replacingOccurrences(of: "+", with: " ")
            return (String(parts[0]), value.withoutPercents)
        }
        return telling(fields, depth)
    }

    /// A form of parts, `multipart/form-data`.
    private static func ofParts(_ text: String, _ depth: Int) -> Recognition? {
        guard text.hasPrefix("--"), let end = text.firstIndex(where: \.isNewline) else { return nil }
        let fields = text.components(separatedBy: text[..<end]).prefix(64).compactMap { part -> (String, String)? in
            guard let start = part.range(of: "name=\"", options: .literal)?.upperBound,
                let head = ["\r\n\r\n", "\n\n"].lazy.compactMap({ part.range(of: $0, options: .literal) }).first
            else { return nil }
            let name = part[start...].prefix { $0 != "\"" && !$0.isNewline }.prefix(40)
            return (String(name), part[head.upperBound...].withoutOuterSpace)
        }
        return telling(fields, depth)
    }

    /// The form body whose field holds a value exchanged for a key.
    private static func telling(_ fields: [(String, String)], _ depth: Int) -> Recognition? {
        let found = fields.lazy.map { ($0.0, Recognition($0.1, depth: depth - 1)) }
        return (found.first { $0.1.isTelling } ?? found.first { $0.0.lowercased() == "spc" })
            .map { .form(field: $0.0.inFewWords, $0.1) }
    }

    private static func ofToken(_ text: String) -> Recognition {
        guard text.utf8.count <= TokenFormat.maximumLength, !text.utf8.contains(where: { "{}<>();".utf8.contains($0) })
        else { return .text }
        let format = TokenFormat.detect(TokenText(text).token)
        return format == .opaque ? .text : .token(format)
    }
}

// Documents.
extension Recognition {
    /// A page, XML, or the text after the words of a script that failed; `<30820…>`, too, as Apple's systems describe bytes.
    private static func ofMarkup(_ text: String, _ depth: Int) -> Recognition {
        if depth > 0, text.hasSuffix(">"), let bytes = hexadecimal(text.dropFirst().dropLast()) {
            return .hexadecimal(Recognition(bytes, depth: depth - 1))
        }
        // Structure before words: a page, a comment and an error in XML may hold any word.
        let pieces = withoutComments(text).pieces(at: "<", maxSplits: 256).filter { !$0.isEmpty }
        let names = pieces.map { $0.prefix { $0 != ">" && $0 != "/" && !$0.isWhitespace } }
        let root = names.first { !$0.hasPrefix("?") }?.lowercased() ?? "html"
        let isPage = pageRoots.contains { root == $0 } || root.hasPrefix("!doctype")
        if !isPage, let message = playReadyMessage(names.map(Self.local), text) {
            return .otherSystem(name: "PlayReady", message: message)
        }
        for (piece, name) in zip(pieces, names) where depth > 0 {
            let content = piece.drop { $0 != ">" }.dropFirst()
            guard content.utf8.count >= 24 else { continue }
            let inside = Recognition(content.withoutOuterSpace, depth: depth - 1)
            guard inside.isTelling else { continue }
            return isPage || !name.isFieldName
                ? .preceded(by: .text, inside) : .xml(element: String(name.prefix(40)), inside)
        }
        return isPage ? .webPage : .xml(element: nil, .text)
    }

    private static let pageRoots = [
        "html", "head", "body", "br", "b", "p", "div", "h1", "center", "title", "meta", "script", "style", "pre",
    ]

    private static func withoutComments(_ text: String) -> String {
        guard Array(text.utf8).place(of: Array("<!--".utf8)) != nil else { return text }
        var (rest, kept) = (text[...], "")
        while let start = rest.range(of: "<!--", options: .literal) {
            kept += rest[..<start.lowerBound]
            let end = rest[start.upperBound...].range(of: "-->", options: .literal)?.upperBound
            rest = rest[(end ?? rest.endIndex)...]
        }
        return kept + rest
    }

    /// An element's name without its prefix.
    private static func local(_ name: Substring) -> Substring { name.split(separator: ":").last ?? name }

    /// A message of PlayReady's protocol in SOAP, or the challenge of a browser around one.
    /// - Parameter names: of the elements, in order, without their prefixes.
    private static func playReadyMessage(_ names: [Substring], _ text: String) -> String? {
        guard let root = names.first(where: { !$0.hasPrefix("?") }) else { return nil }
        func has(_ name: String) -> Bool { names.contains { $0 == name } }
        if root == "LicenseResponse" || root == "Envelope" && has("AcquireLicenseResponse") { return "license" }
        if root == "PlayReadyKeyMessage" || root == "Envelope" && has("AcquireLicense") { return "license request" }
        if root == "WRMHEADER" { return "header" }
        return root == "Envelope" && has("Fault") && text.contains("schemas.microsoft.com/DRM/") ? "error" : nil
    }

    private static func ofJSON(_ text: String, _ depth: Int) -> Recognition {
        guard nesting(of: text) <= 32,
            let value = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        else { return text.hasPrefix("\"") ? .text : .json(field: nil, .text) }
        if let word = value as? String {
            let inside = Recognition(word, depth: depth - 1)
            return inside.isTelling ? .quoted(inside) : .json(field: nil, .text)
        }
        if let list = bytes(value), let found = numbers(list, depth), found.isTelling { return found }
        if let message = clearKeyMessage(value) { return .otherSystem(name: "Clear Key", message: message) }
        if let event = encryptedEvent(value) { return .media(event) }
        let found = leaves(of: value, named: "").prefix(256).lazy.compactMap { name, leaf -> Recognition? in
            let inside: Recognition? =
                if let word = leaf as? String { Recognition(word, depth: depth - 1) } else {
                    bytes(leaf).flatMap { numbers($0, depth) }
                }
            return inside.flatMap { $0.isTelling ? .json(field: String(name.prefix(40)).inFewWords, $0) : nil }
        }
        return found.first ?? .json(field: nil, .text)
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

    /// A list of 32 numbers or more, or such a list as JavaScript writes an array of bytes: `{"0":48,"1":130}`.
    private static func bytes(_ value: Any) -> [Int?]? {
        if let list = value as? [NSNumber] { return list.count >= 32 ? list.map { Int(exactly: $0.doubleValue) } : nil }
        guard let object = value as? [String: NSNumber], object.count >= 32 else { return nil }
        let places = (0..<object.count).map { object["\($0)"] }
        return places.contains { $0 == nil } ? nil : places.map { $0.flatMap { Int(exactly: $0.doubleValue) } }
    }

    /// The texts and the lists of numbers in a document, each with the name of its member.
    private static func leaves(of value: Any, named name: String) -> [(String, Any)] {
        if value is String || bytes(value) != nil { return [(name, value)] }
        if let list = value as? [Any] {
            return list.prefix(256).enumerated().flatMap { leaves(of: $1, named: name.isEmpty ? "\($0)" : name) }
        }
        guard let object = value as? [String: Any] else { return [] }
        return object.sorted { $0.key < $1.key }.prefix(256).flatMap { leaves(of: $0.value, named: $0.key) }
    }

    /// The data of a browser's `encrypted` event for `sinf`: the boxes that protect a track, in base64, with the key's ID in `tenc`.
    private static func encryptedEvent(_ value: Any) -> String? {
        guard let list = (value as? [String: Any])?["sinf"] as? [String],
            let box = list.first.flatMap({ Data(lenientBase64: $0) })
        else { return nil }
        let bytes = [UInt8](box)
        let keyID = bytes.place(of: Array("tenc".utf8)).flatMap {
            bytes.count >= $0 + 28 ? bytes[$0 + 12..<$0 + 28].hexString : nil
        }
        return "the initialization data of a browser's encrypted event (sinf)"
            + (keyID.map { " for the key ID \($0)" } ?? "")
    }

    /// Source: `Documentation/FairPlay.md` §17.
    private static func clearKeyMessage(_ value: Any) -> String? {
        guard let object = value as? [String: Any] else { return nil }
        if let keys = object["keys"] as? [[String: Any]], keys.first?["kty"] as? String == "oct" { return "license" }
        return object["kids"] is [String] ? "license request" : nil
    }
}

extension String {
    /// The text, percent-decoded where it can be.
    fileprivate var withoutPercents: String { removingPercentEncoding ?? self }
}

extension StringProtocol where SubSequence == Substring {
    /// The parts between bytes, empty ones too. Characters cost ten times as much.
    fileprivate func pieces(at byte: Unicode.Scalar, maxSplits: Int) -> [Substring] {
        utf8.split(separator: UInt8(ascii: byte), maxSplits: maxSplits, omittingEmptySubsequences: false)
            .map { self[$0.startIndex..<$0.endIndex] }
    }
}

extension StringProtocol {
    /// Whether it may be the name of a form's field or of an element.
    fileprivate var isFieldName: Bool {
        guard let first = utf8.first, utf8.count <= 64 else { return false }
        return first == UInt8(ascii: "_") || first.isLetter
            ? utf8.allSatisfy {
                $0.isLetter || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "_.-:".utf8.contains($0)
            }
            : false
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
    }
}

/// A token as people copy it: perhaps with the header's name, the word Bearer, or quotation marks around it.
package struct TokenText {
    /// The token alone.
    package let token: String
    /// Whether the word Bearer preceded it.
    package let hasBearer: Bool
    /// Whether it was in quotation marks.
    let isQuoted: Bool

    package init(_ text: String) {
        var token = text.trimmingCharacters(in: .newlines)[...]
        for prefix in ["authorization:", "bearer "] where token.lowercased().hasPrefix(prefix) {
            token = token.dropFirst(prefix.count).drop { $0 == " " }
        }
        hasBearer = text.lowercased().contains("bearer ") && token.count < text.count
        isQuoted = token.count > 1 && token.hasPrefix("\"") && token.hasSuffix("\"")
        if isQuoted { token = token.dropFirst().dropLast() }
        self.token = String(token)
    }

    /// Whether it is a placeholder that a program or a sample has for a token, such as `undefined` or `INSERT_TOKEN`.
    var isPlaceholder: Bool {
        let word = token.uppercased()
        let isBlank =
            ["INSERT", "YOUR", "REPLACE", "<", "{", "$", "%"].contains { word.hasPrefix($0) }
            && token.utf8.count <= 64 && (word.contains("TOKEN") || word.contains("JWT"))
        return isBlank || Recognition.placeholders.contains(token)
    }
}
