import Foundation
import LatchkeyCore

/// Replaces secrets with pseudonyms of the same form: each letter by a letter, each digit by a digit, everything else unchanged.
///
/// A UUID stays a UUID and base64 stays base64, so that a parser of the secret reads its pseudonym in the same way. Equal texts have equal
/// pseudonyms, and without the seed, guessed secrets cannot be checked against them.
struct Pseudonyms: Sendable {
    /// A secret used only for pseudonyms.
    let seed: UInt64

    /// The shortest text that counts as a secret: `SecretForms` looks for no shorter one either.
    static let shortest = 6

    /// The pseudonym of a secret of any length.
    func value(_ text: String) -> String {
        if text.isRedacted { return text }
        // An SPC has kilobytes; its beginning is enough to identify it.
        if text.utf8.count > 512 {
            return value(String(text.prefix(64))) + String(repeating: "A", count: max(0, text.count - 64))
        }
        let scalars = Array(text.unicodeScalars)
        var generator = SeededGenerator(seed: text.utf8.stableHash(seed: seed))
        let isHex = scalars.allSatisfy { !$0.isASCIIWord || $0.isHexDigit }
        var escaped = 0
        let replaced = scalars.enumerated().map { index, scalar -> Unicode.Scalar in
            if scalar == "%", scalars.dropFirst(index + 1).prefix(2).count(where: \.isHexDigit) == 2 { escaped = 3 }
            escaped -= 1
            return escaped >= 0 ? scalar : scalar.pseudonym(isHex, &generator)
        }
        return String(String.UnicodeScalarView(replaced))
    }

    /// Words of a text: words of a language and short ones stay, and so do times and codes; random-looking ones are replaced.
    /// - Parameter kept: words that always stay, such as a vendor's codes.
    func words(_ text: String, keeping kept: KeptWords = KeptWords()) -> String {
        var (shown, word) = ("", "")
        func end() {
            if !word.isEmpty { shown += self.word(word, kept) }
            word = ""
        }
        for character in text {
            if character.isWhitespace || Self.separators.contains(character) {
                end()
                shown.append(character)
            } else {
                word.append(character)
            }
        }
        end()
        return shown
    }

    private static let separators: Set<Character> = Set("\"'<>,;()[]{}|\\")

    private func word(_ word: String, _ kept: KeptWords) -> String {
        if kept.contains(word) { return word }
        if word.contains("://") || word.hasPrefix("/") && word.contains("?") { return url(word) }
        let parts = word.split(separator: "&", omittingEmptySubsequences: false).map(String.init)
        if parts.count > 1 { return parts.map { self.word($0, kept) }.joined(separator: "&") }
        if let mark = word.firstIndex(where: { "=:".contains($0) }),
            word[mark...].contains(where: { !"=:".contains($0) }),
            !word.isPlain
        {
            let (name, rest) = (String(word[..<mark]), String(word[word.index(after: mark)...]))
            let isSecret = Redaction.standard.isSecret(field: name)
            return self.word(name, kept) + String(word[mark]) + (isSecret ? value(rest) : self.word(rest, kept))
        }
        if let ckc = Sanitizer.contentKeyContext(inBase64: word) { return ckc }
        return word.isPlain ? word : value(word)
    }

    /// An address: its host and the words of its path stay; redacted parts, user and password, and values are replaced.
    func url(_ text: String) -> String {
        let isKey = text.lowercased().hasPrefix("skd:")
        return Redaction.standard.mapping(urlText: text) { part in
            !part.isSecret && isOpen(part, ofKey: isKey) ? part.text : value(part.text)
        }
    }

    /// Identifiers of keys and of content are in key URIs and are not secret; anything else that looks random may be.
    private func isOpen(_ part: AddressPart, ofKey isKey: Bool) -> Bool {
        switch part.place {
        case .user: false
        case .host: true
        case .name: part.text.isPlain
        case .path:
            isKey
                ? part.text.utf8.count <= 64 : part.text.utf8.count < 12 || part.text.isPlain || part.text.isIdentifier
        case .query, .fragment: part.text.utf8.count < Self.shortest || isKey && part.text.isIdentifier
        }
    }
}

/// Words that are known not to be secret: a vendor's codes.
struct KeptWords: Sendable {
    var words: Set<String> = []
    /// The prefix of a code; digits follow.
    var beginnings: [String] = []

    func contains(_ word: String) -> Bool {
        let bare = word.trimmingCharacters(in: CharacterSet(charactersIn: ".:!?"))
        return words.contains(bare)
            || beginnings.contains {
                bare.hasPrefix($0) && bare.utf8.count <= $0.utf8.count + 8
                    && bare.dropFirst($0.count).allSatisfy(\.isNumber)
            }
    }
}

extension String {
    /// Whether this is a word of a language, a small number, a time, or a code such as `E-1001`, and not random.
    var isPlain: Bool {
        guard utf8.count >= Pseudonyms.shortest else { return true }
        guard utf8.count <= 64, !contains("@") else { return false }
        let letters = unicodeScalars.count { ("a"..."z").contains($0) || ("A"..."Z").contains($0) }
        let digits = unicodeScalars.count(where: { ("0"..."9").contains($0) })
        if digits == 0 {
            let pieces = split { !$0.isLetter }
            // Base64 and similar encodings are letters of both cases, with marks between.
            return pieces.count == 1 ? pieces.allSatisfy(\.isWord) : pieces.allSatisfy(\.isOfOneCase)
        }
        if letters == 0 || hasSuffix("Z") && letters <= 2 { return digits <= 6 || isTime }
        let start = prefix { $0.isUppercase || "-_".contains($0) }
        return !start.isEmpty && utf8.count <= 12 && dropFirst(start.count).allSatisfy(\.isNumber)
    }

    private var isTime: Bool {
        count <= 30 && (contains("-") || contains(":")) && allSatisfy { $0.isNumber || "-:.+TZ".contains($0) }
    }

    /// Whether this is a UUID, or has as many hexadecimal digits.
    var isIdentifier: Bool {
        let digits = filter { $0 != "-" }
        return digits.count == 32 && digits.unicodeScalars.allSatisfy(\.isHexDigit) && [32, 36].contains(count)
    }
}

extension Substring {
    /// Whether letters are all lowercase or all uppercase, except the first.
    fileprivate var isOfOneCase: Bool {
        let rest = dropFirst()
        return rest.allSatisfy(\.isLowercase) || allSatisfy(\.isUppercase)
    }

    /// Whether letters are a word, or several in camel case: few capitals, and no long piece without one.
    fileprivate var isWord: Bool {
        let capitals = dropFirst().count(where: \.isUppercase)
        if count < 16 { return capitals <= 3 || capitals == count - 1 }
        var (longest, piece) = (0, 0)
        for letter in self {
            piece = letter.isUppercase ? 1 : piece + 1
            longest = Swift.max(longest, piece)
        }
        return longest < 16 && count >= (capitals + 1) * 4
    }
}

extension Unicode.Scalar {
    fileprivate var isHexDigit: Bool {
        ("0"..."9").contains(self) || ("a"..."f").contains(self) || ("A"..."F").contains(self)
    }

    fileprivate var isASCIIWord: Bool {
        ("0"..."9").contains(self) || ("a"..."z").contains(self) || ("A"..."Z").contains(self)
    }

    fileprivate func pseudonym(_ isHex: Bool, _ generator: inout SeededGenerator) -> Unicode.Scalar {
        func one(of letters: StaticString) -> Unicode.Scalar {
            let letters = Array(letters.description.unicodeScalars)
            return letters[Int(generator.next() % UInt64(letters.count))]
        }
        return switch self {
        case "0"..."9": one(of: "0123456789")
        case "a"..."z": one(of: isHex ? "abcdef" : "abcdefghijklmnopqrstuvwxyz")
        case "A"..."Z": one(of: isHex ? "ABCDEF" : "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        default: isASCII ? self : "x"
        }
    }
}
