import Foundation
import LatchkeyCore

/// What the rules of one request read.
struct RuleContext {
    var keyURI: KeyURI?
    var settings: [String: String] = [:]
    var credentials: CredentialSet = .none
    var contentID: String?
    var spcIdentifier: ContentIdentifier?
    var spc: SPCMessage?
    var purpose = KeyPurpose.streaming
    var lookup: [String: Secret] = [:]
    var session: [String: Secret] = [:]
    var messageID: String?
    var reply: JSONReply?

    init(keyURI: KeyURI? = nil, settings: [String: String] = [:], credentials: CredentialSet = .none) {
        self.keyURI = keyURI
        self.settings = settings
        self.credentials = credentials
    }

    init(license: LicenseContext, spc: SPCMessage) {
        keyURI = license.keyURI
        spcIdentifier = license.contentIdentifier
        purpose = license.purpose
        lookup = license.lookup
        session = license.session
        messageID = license.messageID
        self.spc = spc
    }
}

extension RuleContext {
    /// The text that a rule gives; nil where it gives nothing.
    func text(_ rule: TextRule) -> String? {
        switch rule {
        case .fixed(let text): text
        case .setting(let name): settings[name].flatMap { $0.isEmpty ? nil : $0 }
        case .credential(let name): credentials.values[name].flatMap { $0.count == 0 ? nil : $0.revealedText }
        case .contentID: contentID
        case .spcIdentifier: spcIdentifier?.text
        case .spc: spc?.bytes.revealed.base64EncodedString()
        case .spcURLSafe: spc.map { $0.bytes.revealed.base64EncodedString().inURLSafeAlphabet }
        case .lookup(let name): lookup[name]?.revealedText
        case .session(let name): session[name]?.revealedText
        case .reply(let path): reply?.text(at: path)
        case .messageID: messageID
        case .onlyFor(let wanted, let rule): wanted == purpose ? text(rule) : nil
        case .firstOf(let rules): rules.lazy.compactMap { text($0) }.first { !$0.isEmpty }
        case .all(let rules): texts(rules, needAll: true)?.joined()
        case .joined(let rules, let separator): texts(rules, needAll: false)?.joined(separator: separator)
        case .base64Decoded(let rule): text(rule).flatMap(Self.decodedBase64)
        case .ifBase64(let rule): text(rule).flatMap { Self.isBase64($0) ? $0 : nil }
        case .upTo(let mark, let rule): text(rule).map { Self.head(of: $0, before: mark) }
        case .base64(let rule): text(rule).map { Data($0.utf8).base64EncodedString() }
        case .percentDecoded(let rule): text(rule).flatMap(\.removingPercentEncoding)
        case .percentEncoded(let rule): text(rule)?.percentEncoded
        case .replacing(let old, let new, let rule): replacing(old, new, rule)
        case .template(let template): filled(TemplateText(template))
        case .json(let template): template.text(self)
        default: keyURI.flatMap { Self.part(rule, of: $0) }
        }
    }

    /// The text that a rule gives, or an error that names what is missing.
    func requiredText(_ rule: TextRule, for use: String) throws(IntegrationError) -> String {
        if let text = text(rule), !text.isEmpty { return text }
        let names = rule.names
        if let setting = names.settings.sorted().first(where: { settings[$0, default: ""].isEmpty }) {
            throw IntegrationError(.missingSetting, "The \(use) needs the setting \"\(setting)\".")
        }
        if let credential = names.credentials.sorted().first {
            throw IntegrationError(.missingCredential, "The \(use) needs the credential \"\(credential)\".")
        }
        throw IntegrationError(.contentIdentifierMissing, "The key URI holds nothing for the \(use).")
    }

    private static func part(_ rule: TextRule, of uri: KeyURI) -> String? {
        switch rule {
        case .wholeURI: uri.raw
        case .remainder: uri.remainder
        case .remainderBeforeQuery: uri.remainderBeforeQuery
        case .afterFirstQuestionMark: uri.query
        case .afterLastQuestionMark: uri.afterLastQuestionMark
        case .lastPathComponent: tail(of: uri.remainder, behind: "/") ?? uri.remainder
        case .host: uri.host
        case .afterLast(let mark): tail(of: uri.raw, behind: mark)
        case .query(let name): uri.queryValue(name)
        case .firstQueryValue: uri.queryItems.first?.value
        case .httpsURI: uri.scheme?.lowercased() == "data" ? nil : uri.replacingScheme(with: "https")
        default: nil
        }
    }

    private static func tail(of text: String, behind mark: String) -> String? {
        text.range(of: mark, options: [.backwards, .literal]).map { String(text[$0.upperBound...]) }
    }

    private static func head(of text: String, before mark: String) -> String {
        text.range(of: mark, options: .literal).map { String(text[..<$0.lowerBound]) } ?? text
    }

    private static func isBase64(_ text: String) -> Bool {
        !text.contains { $0.isWhitespace } && Data(base64Encoded: text)?.isEmpty == false
    }

    private static func decodedBase64(_ text: String) -> String? {
        Data(lenientBase64: text).flatMap { String(data: $0, encoding: .utf8) }
    }

    private func texts(_ rules: [TextRule], needAll: Bool) -> [String]? {
        let texts = rules.compactMap { text($0) }
        guard !texts.isEmpty, !needAll || texts.count == rules.count else { return nil }
        return texts
    }

    private func replacing(_ old: String, _ new: TextRule, _ rule: TextRule) -> String? {
        guard let subject = text(rule), let replacement = text(new) else { return nil }
        return subject.replacingOccurrences(of: old, with: replacement, options: .literal)
    }

    /// The names that a template knows beside the settings.
    static let templateRules: [String: TextRule] = [
        "contentID": .contentID, "host": .host, "lastPathComponent": .lastPathComponent, "remainder": .remainder,
    ]

    private func filled(_ template: TemplateText) -> String? {
        var filled = ""
        for part in template.parts {
            switch part {
            case .text(let text): filled += text
            case .name(let name):
                guard let value = Self.templateRules[name].map({ text($0) }) ?? settings[name] else { return nil }
                filled += value
            }
        }
        return filled
    }
}

extension String {
    var inURLSafeAlphabet: String {
        replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    }
}
