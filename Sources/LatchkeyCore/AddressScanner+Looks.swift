import Foundation

/// How a part of a URL is recognized as a secret although its name does not say so: the table of `Documentation/Redaction.md`.
extension AddressScanner {
    /// Whether redaction wrote this, or it is a placeholder: `‹12:0a1b2c›`, `{token}`, `…`.
    static func isHidden(_ part: ArraySlice<UInt8>) -> Bool {
        guard let first = part.first else { return true }
        guard first == 0xe2 || first == UInt8(ascii: "{") else { return false }
        let text = text(part)
        let isPlace =
            text.hasPrefix("{") && text.hasSuffix("}")
            && text.dropFirst().dropLast().allSatisfy { $0.isLetter || "_-.$".contains($0) }
        return isPlace || text.isRedacted || text.allSatisfy { $0 == "…" }
    }

    /// Whether a JSON Web Token is anywhere in a part.
    static func holdsJWT(_ part: ArraySlice<UInt8>) -> Bool {
        var index = part.startIndex
        while let start = part[index...].firstIndex(of: UInt8(ascii: "e")) {
            index = start + 1
            guard part[start...].starts(with: "eyJ".utf8) else { continue }
            let head = part[start...].prefix(while: isBase64URL)
            index = head.endIndex
            guard head.count >= 10, part[index...].first == UInt8(ascii: ".") else { continue }
            if part[(index + 1)...].prefix(while: isBase64URL).count >= 3 { return true }
        }
        return false
    }

    /// Whether the next segment is a token, as in `/token/abc`.
    static func announces(_ segment: ArraySlice<UInt8>) -> Bool {
        guard segment.count <= 24 else { return false }
        let name = text(segment).lowercased().filter(\.isLetter)
        return name.hasSuffix("token") || name.hasSuffix("auth") || announcing.contains(name)
    }

    private static let announcing: Set = [
        "tokens", "jwt", "auth", "authorization", "sig", "signature", "hmac", "secret", "password", "apikey", "hdnts",
        "hdnea", "hdntl",
    ]

    /// Whether a part is a name and a secret, as `auth:abc123` and `"token":"abc123"` are.
    static func holdsPair(_ part: ArraySlice<UInt8>) -> Bool {
        guard part.contains(UInt8(ascii: ":")) else { return false }
        let pieces = part.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        return zip(pieces, pieces.dropFirst()).contains { announces($0) && mayBeAnnounced($1) }
    }

    /// Whether a segment after `/token/` is a token: neither a short word nor a version.
    static func mayBeAnnounced(_ segment: ArraySlice<UInt8>) -> Bool {
        segment.count >= 16 || segment.count >= 6 && segment.contains { Kind($0) == .digit }
    }

    /// Whether a part is random, and not an identifier of a key or of content, a file name or a number.
    static func looksRandom(_ part: ArraySlice<UInt8>) -> Bool {
        if part.count < 18 { return false }
        return part.split(whereSeparator: { !isBase64URL($0) && ![0x2b, 0x2f, 0x3d].contains($0) }).contains { run in
            let words = run.split { Kind($0) == nil }.map(CharacterCounts.init)
            // JSON or a URL in base64; a random word; or, if marks are part of the random text, all words together.
            return encoded.contains(where: run.starts) || words.contains(where: \.isRandom)
                || run.count >= 20 && CharacterCounts(words.filter { !$0.isNumber }).isRandom
        }
    }

    /// Whether a word may be a key, an SPC or a token, wherever it is: 22 characters are 16 bytes in base64.
    ///
    /// A word of letters alone, such as a long name in code, does not count; nor does a name of short parts.
    static func looksOpaque(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.count >= 22 else { return false }
        return looksRandom(word)
            || word.split { [0x2d, 0x2e, 0x2f].contains($0) }.contains { piece in
                piece.count >= 22 && piece.contains { Kind($0) == .digit }
            }
    }

    /// Whether a byte may be in base64, hexadecimal digits or a compact token.
    static func isOfToken(_ byte: UInt8) -> Bool { isBase64URL(byte) || [0x2b, 0x2e, 0x2f, 0x3d].contains(byte) }

    /// `{"` and `http` in base64.
    private static let encoded = ["eyJ", "aHR0c"].map { Array($0.utf8) }

    /// Names of values that identify content, a key or a license's settings.
    static func namesIdentifier(_ name: String) -> Bool {
        identifiers.contains(name.lowercased().filter { $0 != "-" && $0 != "_" })
    }

    private static let identifiers: Set = [
        "id", "assetid", "beamid", "cid", "contentid", "keyid", "kid", "mediaid", "playbackid", "variantid", "videoid",
    ]

    /// Whether a file name has an extension of a stream's or a document's files.
    static func hasEnding(_ name: ArraySlice<UInt8>) -> Bool {
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), name.endIndex - dot <= 7 else { return false }
        return endings.contains(text(name[(dot + 1)...]).lowercased())
    }

    private static let endings: Set = [
        "aac", "ac3", "cer", "cmfa", "cmft", "cmfv", "der", "ec3", "har", "htm", "html", "jpg", "json", "key", "m3u",
        "m3u8", "m4a", "m4s",
        "m4v", "mov", "mp3", "mp4", "mpd", "pem", "png", "ts", "txt", "vtt", "webvtt", "xml", "zip",
    ]

    /// Letters and digits, counted.
    private struct CharacterCounts {
        private var (count, changes, isHex) = (0, 0, true)
        private var kinds: UInt8 = 0

        init(_ word: ArraySlice<UInt8>) {
            var last: Kind?
            for byte in word {
                guard let kind = Kind(byte) else { continue }
                kinds |= kind.rawValue
                isHex = isHex && (kind == .digit || (0x41...0x46).contains(byte & 0xdf))
                // A capital may begin a word.
                if let last, last != kind, !(last == .capital && kind == .small) { changes += 1 }
                last = kind
            }
            count = word.count
        }

        init(_ words: [CharacterCounts]) {
            for word in words {
                (count, changes) = (count + word.count, changes + word.changes)
                (kinds, isHex) = (kinds | word.kinds, false)
            }
            // Words of lowercase letters and digits between dashes are a name.
            if kinds != Kind.all { count = 0 }
        }

        /// Whether this is a number, or a part of one in hexadecimal digits, as in a UUID.
        var isNumber: Bool { isHex && count >= 4 }

        var isRandom: Bool {
            // 32 digits are a key's ID, which cannot be distinguished from a digest of 128 bits.
            if isHex { return count > 32 }
            guard count >= 18, kinds & Kind.digit.rawValue != 0 else { return false }
            if kinds != Kind.all { return count >= 20 && changes * 5 >= count }
            return changes * 100 >= count * (count < 32 ? 26 : 22)
        }
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        Kind(byte) != nil || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private enum Kind: UInt8 {
        case small = 1
        case capital = 2
        case digit = 4

        static let all: UInt8 = 7

        init?(_ byte: UInt8) {
            switch byte {
            case 0x61...0x7a: self = .small
            case 0x41...0x5a: self = .capital
            case 0x30...0x39: self = .digit
            default: return nil
            }
        }
    }
}

extension Redaction {
    /// Whether a random part of a key URI names a key: 16 bytes in base64, or JSON in it with a key's or a title's identifier.
    func namesKey(_ part: ArraySlice<UInt8>) -> Bool {
        if part.count <= 24 { return true }
        guard part.starts(with: "eyJ".utf8), let json = Data(lenientBase64: AddressScanner.text(part)) else {
            return false
        }
        let text = String(decoding: json, as: UTF8.self).lowercased()
        return text.hasSuffix("}") && (text.contains("keyid") || text.contains("contentid")) && !soundsSecret(text)
    }
}
