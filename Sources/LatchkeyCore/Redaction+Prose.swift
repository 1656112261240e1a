extension Redaction {
    /// A text of any kind without the secrets of the URLs in it, whole or in part, and without JSON Web Tokens.
    ///
    /// For output as a whole, after everything that redacts its own values: redacted values stay as they are, and so do placeholders in
    /// braces.
    /// - Complexity: linear in the text.
    package func redacted(prose text: String) -> String {
        let bytes = Array(text.utf8)
        var (shown, kept, index) = ([UInt8](), 0, 0)
        // Whether the last word was `"token"` or its like, which its value follows.
        var isAnnounced = false
        while index < bytes.count {
            let start = index
            while index < bytes.count, case let length = Self.lengthOfEnd(bytes, at: index), length == 0 {
                // A JSON escape belongs to the word, whatever character it represents.
                index += bytes[index] == UInt8(ascii: "\\") && index + 1 < bytes.count ? 2 : 1
            }
            let word = Self.withoutPunctuation(bytes[start..<min(index, bytes.count)])
            if let redacted = redacted(word: word, isAnnounced: isAnnounced) {
                shown += bytes[kept..<word.startIndex] + redacted
                kept = word.endIndex
            }
            if !word.isEmpty {
                isAnnounced =
                    index < bytes.count && bytes[index] == UInt8(ascii: "\"") && AddressScanner.announces(word)
            }
            if index < bytes.count { index += Self.lengthOfEnd(bytes, at: index) }
        }
        return kept == 0 ? text : String(decoding: shown + bytes[kept...], as: UTF8.self)
    }

    /// A log's or a service's text: prose without its secrets, and without any word that may be a key or a token by its length.
    /// - Complexity: linear in the text.
    package func redacted(words text: String) -> String {
        let bytes = Array(redacted(prose: text).utf8)
        var (shown, index) = ([UInt8](), 0)
        while index < bytes.count {
            let word = bytes[index...].prefix(while: AddressScanner.isOfToken)
            shown += AddressScanner.looksOpaque(word) ? AddressScanner.hidden(word)[...] : word
            let rest = bytes[word.endIndex...].prefix { !AddressScanner.isOfToken($0) }
            shown += rest
            index = rest.endIndex
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// A word without secrets; `nil` if it has none.
    private func redacted(word: ArraySlice<UInt8>, isAnnounced: Bool) -> [UInt8]? {
        // A colon is in an address or a time.
        if isAnnounced, AddressScanner.mayBeAnnounced(word), !AddressScanner.isHidden(word), !word.contains(0x3a) {
            return AddressScanner.hidden(word)
        }
        guard word.count > 3, word.contains(where: { [0x3d, 0x40, 0x2e, 0x2f, 0x25, 0x3a].contains($0) }) else {
            return nil
        }
        let isEscaped = word.contains(UInt8(ascii: "\\"))
        let plain = isEscaped ? Self.withoutEscapes(word) : Array(word)
        var scanner = AddressScanner(self, plain[...], isProse: true, \.shown)
        let shown = scanner.scanned()
        if shown == plain { return nil }
        guard isEscaped else { return shown }
        return shown.flatMap { [0x22, 0x5c].contains($0) ? [0x5c, $0] : [$0] }
    }

    /// The length of the white space, control or mark at an index that ends a word; 0 if there is none.
    private static func lengthOfEnd(_ bytes: [UInt8], at index: Int) -> Int {
        switch bytes[index] {
        case 0...0x20, 0x7f, UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "`"): 1
        case UInt8(ascii: "\\"): index + 1 < bytes.count && "nrt".utf8.contains(bytes[index + 1]) ? 2 : 0
        case 0xc2: index + 1 < bytes.count && bytes[index + 1] == 0xa0 ? 2 : 0
        case 0xe2 where index + 2 < bytes.count && bytes[index + 1] == 0x80:
            // Spaces, quotation marks and ends of lines; neither an ellipsis nor the marks of hidden values.
            switch bytes[index + 2] {
            case 0x80...0x8f, 0x98...0x9f, 0xa8...0xaf: 3
            default: 0
            }
        default: 0
        }
    }

    private static func withoutPunctuation(_ word: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var word = word.drop { "(['".utf8.contains($0) }
        while let last = word.last, ".,;:!?)'".utf8.contains(last) { word.removeLast() }
        return word
    }

    private static func withoutEscapes(_ word: ArraySlice<UInt8>) -> [UInt8] {
        var (plain, index) = ([UInt8](), word.startIndex)
        while index < word.endIndex {
            guard word[index] == UInt8(ascii: "\\"), index + 1 < word.endIndex else {
                plain.append(word[index])
                index += 1
                continue
            }
            let digits = word[(index + 2)...].prefix(4)
            let isCode = word[index + 1] == UInt8(ascii: "u") && digits.count == 4
            if isCode, let code = UInt8(AddressScanner.text(digits), radix: 16), code < 0x80 {
                plain.append(code)
                index += 6
            } else {
                plain.append(word[index + 1])
                index += 2
            }
        }
        return plain
    }
}
