extension String {
    /// Whether the text is one or more letters and digits of ASCII and the characters of `others`. Compiles no expression.
    /// - Parameters:
    ///   - others: further characters of ASCII.
    ///   - limit: the maximum number of bytes in the text.
    package func isMadeOfLettersDigits(and others: StaticString, limit: Int) -> Bool {
        guard (1...limit).contains(utf8.count) else { return false }
        return others.withUTF8Buffer { others in utf8.allSatisfy { $0.isLetterOrDigit || others.contains($0) } }
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: false
        }
    }
}
