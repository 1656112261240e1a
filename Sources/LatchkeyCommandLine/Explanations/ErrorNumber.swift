/// A number as logs, consoles and debuggers write it: signed, unsigned in 32 or 64 bits, hexadecimal, four characters.
enum ErrorNumber {
    /// - Returns: `nil` unless the text is a whole number of at most 64 bits.
    static func read(_ text: String) -> Int? {
        let text = withPlainMinus(text)
        if let number = Int(text) { return number }
        if let hexadecimal = hexadecimalDigits(of: text) { return UInt64(hexadecimal, radix: 16).map(signed) }
        return UInt64(text).map(signed)
    }

    /// The number of a four-character code, such as `fmt?`, with or without quotation marks; `nil` for other texts.
    static func fourCharacters(_ text: String) -> Int? {
        let text = text.trimmingPrefix { "'\"".contains($0) }.prefix { !"'\"".contains($0) }
        guard text.utf8.count == 4, text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else { return nil }
        return text.utf8.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns the text with hyphens in place of the minus signs and dashes that editors and chat programs substitute for them.
    static func withPlainMinus(_ text: String) -> String {
        String(text.map { "\u{2212}\u{2010}\u{2011}\u{2013}\u{fe63}\u{ff0d}".contains($0) ? "-" : $0 })
    }

    /// A number whose upper half is not meant is negative: 32 bits as browsers show them, 64 bits as debuggers do.
    private static func signed(_ number: UInt64) -> Int {
        if let half = UInt32(exactly: number), half > UInt32(Int32.max) { return Int(Int32(bitPattern: half)) }
        return Int(bitPattern: UInt(number))
    }

    private static func hexadecimalDigits(of text: String) -> Substring? {
        if text.lowercased().hasPrefix("0x") { return text.dropFirst(2) }
        // Without 0x, only unambiguous forms: eight or sixteen digits with a letter among them.
        let isLikely =
            [8, 16].contains(text.utf8.count) && text.contains { $0.isLetter } && text.allSatisfy(\.isHexDigit)
        return isLikely ? text[...] : nil
    }
}
