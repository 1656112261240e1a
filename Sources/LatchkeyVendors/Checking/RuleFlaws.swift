import Foundation

extension TextRule {
    /// Why the rule can never return a value; `nil` if it can. Does not check the rules inside it.
    var flaw: String? {
        switch self {
        case .firstOf(let rules), .all(let rules), .joined(let rules, _):
            rules.isEmpty ? "The rule combines no rules." : nil
        case .afterLast(let text), .query(let text), .setting(let text), .credential(let text), .lookup(let text),
            .session(let text), .reply(let text), .replacing(let text, _, _), .upTo(let text, _):
            text.isEmpty ? "The rule's text is empty." : nil
        case .template(let text):
            Self.areBracesPaired(text) ? nil : "The braces of \"\(text.prefix(60))\" are not paired."
        case .keyURI, .request, .fixed, .onlyFor, .transformed, .from, .json: nil
        }
    }

    private static func areBracesPaired(_ text: String) -> Bool {
        var isOpen = false
        for character in text where "{}".contains(character) {
            guard (character == "}") == isOpen else { return false }
            isOpen.toggle()
        }
        return !isOpen
    }
}

extension RequestRule.Header {
    /// Whether the name is a valid one. Names of settings in it count as valid.
    var hasValidName: Bool {
        var context = RuleContext()
        for setting in TextRule.template(name).names.settings { context.settings[setting] = "x" }
        return (try? fieldName(context)) != nil
    }
}

extension CKCDecoder {
    /// The JSON paths where the CKC may be.
    package var paths: [String] {
        switch self {
        case .json(let paths): paths
        case .jsonOr(let paths, let other): paths + other.paths
        case .preferring(let decoder): decoder.paths
        case .raw, .base64Text, .tagged, .tolerant: []
        }
    }

    var needsPaths: Bool {
        switch self {
        case .json, .jsonOr: true
        case .preferring(let decoder): decoder.needsPaths
        case .raw, .base64Text, .tagged, .tolerant: false
        }
    }
}

extension String {
    /// Whether the text is a day, written as `2026-11-22`.
    var isCalendarDay: Bool {
        let parts = split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], parts.joined().allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return false
        }
        return (1...12).contains(Int(parts[1]) ?? 0) && (1...31).contains(Int(parts[2]) ?? 0)
    }

    var isBlank: Bool { allSatisfy(\.isWhitespace) }

    /// Whether the text is an https URL with a host, or an http URL of a loopback host.
    var isWebAddress: Bool {
        guard let url = URL(string: escapedForURL), let host = url.host, !host.isEmpty else { return false }
        switch url.scheme?.lowercased() {
        case "https": return true
        case "http": return ["localhost", "127.0.0.1", "::1"].contains(host)
        default: return false
        }
    }
}

extension UInt8 {
    var isLowerCaseOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }

    package var isNameByte: Bool {
        isLowerCaseOrDigit || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || "-_".utf8.contains(self)
    }
}
