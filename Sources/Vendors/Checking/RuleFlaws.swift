import Foundation

extension TextRule {
    /// Why the rule, apart from the rules inside it, can never give what it is for; nil where it can.
    var flaw: String? {
        switch self {
        case .firstOf(let rules), .all(let rules), .joined(let rules, _):
            rules.isEmpty ? "The rule combines no rules." : nil
        case .afterLast(""), .query(""), .setting(""), .credential(""), .lookup(""), .session(""), .reply(""),
            .replacing("", _, _), .upTo("", _):
            "The rule's text is empty."
        case .template(let text):
            Self.areBracesPaired(text) ? nil : "The braces of \"\(text.prefix(60))\" are not paired."
        default: nil
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

extension RequestRule {
    /// Whether the SPC travels with the request.
    var sendsSPC: Bool {
        switch body {
        case .raw?, .base64Text?: true
        default:
            (url.rules + headers.map(\.value) + (body?.rules ?? [])).flatMap(\.withParts)
                .contains { [.spc, .spcURLSafe].contains($0) }
        }
    }
}

extension RequestRule.Header {
    /// Whether the name is one; the names of settings in it stand for any.
    var hasValidName: Bool {
        var context = RuleContext()
        for setting in TemplateText(name).names { context.settings[setting] = "x" }
        return (try? fieldName(context)) != nil
    }
}

extension CKCDecoder {
    /// The JSON paths at which the CKC may stand.
    var paths: [String] {
        switch self {
        case .json(let paths): paths
        case .jsonOr(let paths, let other): paths + other.paths
        case .raw, .base64Text, .tagged, .tolerant: []
        }
    }

    var needsPaths: Bool {
        switch self {
        case .json, .jsonOr: true
        case .raw, .base64Text, .tagged, .tolerant: false
        }
    }
}

extension String {
    var isBlank: Bool { allSatisfy(\.isWhitespace) }

    /// Whether the text is an https URL with a host; http counts for a loopback host's address alone.
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

    var isNameByte: Bool {
        isLowerCaseOrDigit || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) || "-_".utf8.contains(self)
    }
}
