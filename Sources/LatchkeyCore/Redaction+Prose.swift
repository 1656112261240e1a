extension Redaction {
    /// A text of any kind with the URLs in it redacted: the values of query items with a telling name, and users with their passwords.
    ///
    /// For output as a whole, behind all that redacts by itself: what is redacted already stays as it is, and so does a place for a value in
    /// braces.
    /// - Complexity: linear in the text.
    package func redacted(prose text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }) else { return text }
        let scalars = Array(text.unicodeScalars)
        var (shown, kept, index) = (String.UnicodeScalarView(), 0, 0)
        func replace(_ range: Range<Int>, _ words: String) {
            shown.append(contentsOf: scalars[kept..<range.lowerBound])
            shown.append(contentsOf: words.unicodeScalars)
            kept = range.upperBound
        }
        while index < scalars.count {
            switch scalars[index] {
            case "?", "&":
                index += 1
                guard let value = secretValue(scalars, from: index) else { continue }
                replace(value, Secret(Self.text(scalars[value])).short)
                index = value.upperBound
            case "/":
                index += 1
                guard index > 2, scalars[index - 2] == "/", scalars[index - 3] == ":",
                    let user = Self.user(scalars, from: index)
                else { continue }
                replace(user, "‹user›")
                index = user.upperBound
            default: index += 1
            }
        }
        guard kept > 0 else { return text }
        shown.append(contentsOf: scalars[kept...])
        return String(shown)
    }

    /// Where the value of a secret query item is whose name begins at an index.
    private func secretValue(_ scalars: [Unicode.Scalar], from start: Int) -> Range<Int>? {
        let name = scalars[start...].prefix(Self.longestName).prefix { Self.isOfNames($0) }
        guard !name.isEmpty, name.endIndex < scalars.count, scalars[name.endIndex] == "=",
            isSecret(queryItem: Self.text(name))
        else { return nil }
        let first = name.endIndex + 1
        var end = first
        while end < scalars.count, !Self.endsValue(scalars[end]) {
            // An escape of JSON belongs to the value, whatever it stands for.
            end += scalars[end] == "\\" && end + 1 < scalars.count ? 2 : 1
        }
        end = min(end, scalars.count)
        while end > first, ".,;:!?)'’”".unicodeScalars.contains(scalars[end - 1]) { end -= 1 }
        let value = scalars[first..<end]
        let isShown = (value.first == "‹" && value.last == "›") || (value.first == "{" && value.last == "}")
        return value.isEmpty || isShown || value.allSatisfy { $0 == "…" } ? nil : first..<end
    }

    /// Where a user with a password is in front of a host that begins at an index.
    private static func user(_ scalars: [Unicode.Scalar], from start: Int) -> Range<Int>? {
        let authority = scalars[start...].prefix { !endsValue($0) && $0 != "/" && $0 != "?" }
        guard let at = authority.lastIndex(of: "@"), authority[..<at].contains(":") else { return nil }
        return start..<at
    }

    private static let longestName = 100

    private static func isOfNames(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", "~", "%", "+", "[", "]", "$": true
        default: false
        }
    }

    private static func endsValue(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\"", "<", ">", "&", "#", "`": true
        default: scalar.properties.isWhitespace || scalar.value < 0x20
        }
    }

    private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }
}
