import Foundation
import LatchkeyCore

/// Where services without documented errors put code and message.
///
/// Source: the error replies of vendors that document theirs (`Documentation/Vendors/README.md` §22), RFC 6750 §3, RFC 9457.
extension ErrorRules {
    static let usualCodes: [ReplyField] = [
        .header("x-error-code"), .json("error.code"), .json("errorCode"), .json("error_code"), .json("code"),
        .json("errors.0.code"),
    ]
    static let usualRequestIDs = [
        "requestId", "requestID", "request_id", "error.requestId", "correlationId", "traceId",
    ]
    static let usualWords: [ReplyField] = [
        .header("x-error-message"), .header("x-error-description"), .header("x-error"), .json("error.message"),
        .json("error_description"), .json("errorMessage"), .json("error_message"), .json("message"),
        .json("detail"), .json("error"), .json("err"), .json("reason"), .json("title"),
    ]
    /// Where words are if they are nowhere else.
    static let lastWords: [ReplyField] = [.header("www-authenticate"), .text]
}

extension JSONReply {
    /// Text that sounds like a service's words, anywhere: in lists, under names of any letter case, in documents inside texts.
    ///
    /// Mux has `{"error": {"messages": ["…"]}}`, other services `{"Fault": {"FaultString": "…"}}` or `{"errors": [{"Message": "…"}]}`.
    var words: String? { Self.words(in: root, isNamed: root is [Any], depth: 0) }

    private static let names = [
        "message", "messages", "errormessage", "errormessages", "errordescription", "description", "faultstring",
        "detail",
        "details", "msg", "reason", "error", "errors", "err", "fault", "title", "text",
    ]

    /// - Parameter isNamed: whether a text here is under a name for words.
    private static func words(in value: Any, isNamed: Bool, depth: Int) -> String? {
        guard depth < 8 else { return nil }
        switch value {
        case let text as String:
            if let inner = text.first.flatMap({ "{[".contains($0) ? JSONReply(Data(text.utf8)) : nil }) {
                return words(in: inner.root, isNamed: isNamed, depth: depth + 1)
            }
            return isNamed && text.contains(where: \.isLetter) ? text : nil
        case let list as [Any]:
            let found = list.prefix(8).compactMap { words(in: $0, isNamed: isNamed, depth: depth + 1) }
            return found.isEmpty ? nil : found.prefix(3).joined(separator: "; ")
        case let object as [String: Any]:
            let members = object.sorted { $0.key < $1.key }
            let named = names.lazy.flatMap { name in members.filter { $0.key.lowercased().filter(\.isLetter) == name } }
            let found = named.compactMap { words(in: $0.value, isNamed: true, depth: depth + 1) }.first
            return found ?? members.lazy.compactMap { words(in: $0.value, isNamed: false, depth: depth + 1) }.first
        default: return nil
        }
    }
}

extension Data {
    /// A short text, or the title of an HTML page; `nil` for anything else.
    var plainWords: String? {
        guard count <= 16_384, let text = String(data: self, encoding: .utf8) else { return nil }
        switch Recognition(self) {
        case .webPage:
            guard let start = text.range(of: "<title>", options: .caseInsensitive)?.upperBound,
                let end = text[start...].range(of: "</title>", options: .caseInsensitive)?.lowerBound
            else { return nil }
            return String(text[start..<end])
        case .xml: return text.wordsOfXML
        case .text, .token, .placeholder: return text
        default: return nil
        }
    }
}

extension String {
    /// Code and message of an error in XML, as stores of files and SOAP services write it.
    fileprivate var wordsOfXML: String? {
        var (code, message): (String?, String?)
        for piece in split(separator: "<").prefix(64) {
            let name = piece.prefix { $0 != ">" && !$0.isWhitespace }.split(separator: ":").last?.lowercased() ?? ""
            let text = piece.drop { $0 != ">" }.dropFirst().withoutOuterSpace
            guard !text.isEmpty, text.contains(where: \.isLetter) else { continue }
            if ["code", "errorcode", "faultcode"].contains(name) { code = code ?? text }
            if ["message", "faultstring", "reason", "description", "detail"].contains(name) {
                message = message ?? text
            }
        }
        let words = [code, message].compactMap(\.self)
        return words.isEmpty ? nil : words.joined(separator: ": ")
    }

    /// A service's words as an error may show them: one line of at most 300 characters, without control characters and without anything
    /// that looks like a secret.
    ///
    /// A word of more than 64 characters is probably a token, an SPC or a URL, and is replaced by its length. So is the value of a name
    /// that sounds secret, and the word after `Bearer`.
    var inFewWords: String {
        var words: [String] = []
        var announcesSecret = false
        for word in split(whereSeparator: \.separatesWords) {
            // `Bearer error="…"` is how a challenge begins.
            let isSecret = announcesSecret && word.mayBeSecret && !word.contains("=\"")
            words.append(isSecret ? word.length : word.withoutSecret)
            announcesSecret = word.isNameOfSecret
        }
        return String(words.joined(separator: " ").prefix(300))
    }
}

extension Character {
    fileprivate var separatesWords: Bool {
        isWhitespace
            || unicodeScalars.contains {
                // Controls, and characters that change the direction of a line or are invisible.
                [.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
    }
}

extension Substring {
    fileprivate var length: String { "‹\(count) characters›" }

    fileprivate var withoutSecret: String {
        count <= 64 ? Redaction.standard.redacted(prose: String(self)) : length
    }

    /// `token:` or `Bearer`, which a secret may follow.
    fileprivate var isNameOfSecret: Bool {
        trimmed.caseInsensitiveEquals("bearer") || (hasSuffix(":") || hasSuffix("=")) && dropLast().soundsSecret
    }

    /// Whether this is probably not a word of a language: long, or with a digit.
    fileprivate var mayBeSecret: Bool { trimmed.count >= 16 || trimmed.count >= 6 && contains(where: \.isNumber) }

    fileprivate var soundsSecret: Bool { Redaction.standard.isSecret(field: String(trimmed)) }

    private var trimmed: Substring { drop { !$0.isLetter && !$0.isNumber } }
}
