/// The characters of a document: which are allowed, and what references stand for.
///
/// Source: Extensible Markup Language (XML) 1.0, fifth edition, §2.2, §2.4, §2.11, §3.3.3, §4.1 and §4.6.
enum XMLText {
    /// Where characters stand.
    enum Place {
        /// Between tags.
        case text
        /// In an attribute's value.
        case attribute
    }

    /// Text with its references replaced; `nil` for a character that is not allowed and for any entity but the five of XML.
    static func decoded(_ raw: ArraySlice<UInt8>, as place: Place) -> String? {
        guard let text = verbatim(raw) else { return nil }
        // Bytes, because a combining mark behind a character hides it from comparisons of characters.
        guard place == .attribute ? !raw.contains(UInt8(ascii: "<")) : XMLCursor.find("]]>", in: raw) == nil else {
            return nil
        }
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "&" {
                guard let end = rest.firstIndex(of: ";"), let referred = Self.scalar(rest[..<end]) else { return nil }
                result.append(referred)
                rest = rest[rest.index(after: end)...]
            } else {
                result.append(place == .attribute && (scalar == "\t" || scalar == "\n") ? " " : scalar)
            }
        }
        return String(result)
    }

    /// Text as it stands, with `\n` for every line end; `nil` for a character that is not allowed.
    static func verbatim(_ raw: ArraySlice<UInt8>) -> String? {
        var result = String.UnicodeScalarView()
        var wasReturn = false
        for scalar in String(decoding: raw, as: UTF8.self).unicodeScalars {
            guard isAllowed(scalar) else { return nil }
            if !(wasReturn && scalar == "\n") { result.append(scalar == "\r" ? "\n" : scalar) }
            wasReturn = scalar == "\r"
        }
        return String(result)
    }

    private static func scalar(_ name: Substring.UnicodeScalarView) -> Unicode.Scalar? {
        switch String(name) {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        case let reference where reference.hasPrefix("#x"):
            return number(reference.dropFirst(2), radix: 16)
        case let reference where reference.hasPrefix("#"):
            return number(reference.dropFirst(), radix: 10)
        default: return nil
        }
    }

    private static func number(_ digits: Substring, radix: Int) -> Unicode.Scalar? {
        guard 1...8 ~= digits.utf8.count, digits.first?.isHexDigit == true, let value = UInt32(digits, radix: radix),
            let scalar = Unicode.Scalar(value), isAllowed(scalar)
        else { return nil }
        return scalar
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0a, 0x0d, 0x20...0xd7ff, 0xe000...0xfffd, 0x10000...0x10ffff: true
        default: false
        }
    }
}
