import Foundation
package import LatchkeyCore

/// The values that the rules of one request read.
package struct RuleContext {
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

    package init(keyURI: KeyURI? = nil, settings: [String: String] = [:], credentials: CredentialSet = .none) {
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
    /// The longest text that a rule gives, in bytes. Nested rules could make one of any length.
    static let textLimit = 4 << 20

    /// The text that a rule gives; `nil` if it gives none, or one of more than `textLimit` bytes.
    package func text(_ rule: TextRule) -> String? {
        guard let text = unlimitedText(rule), text.utf8.count <= Self.textLimit else { return nil }
        return text
    }

    private func unlimitedText(_ rule: TextRule) -> String? {
        switch rule {
        case .keyURI(let part): keyURI.flatMap(part.text)
        case .afterLast(let mark): keyURI.flatMap { Self.tail(of: $0.raw, after: mark) }
        case .query(let name): keyURI?.queryValue(name)
        case .request(let value): text(value)
        case .fixed(let text): text
        case .setting(let name): settings[name].flatMap { $0.isEmpty ? nil : $0 }
        case .credential(let name): credentials.values[name].flatMap { $0.count == 0 ? nil : $0.revealedText }
        case .lookup(let name): lookup[name]?.revealedText
        case .session(let name): session[name]?.revealedText
        case .reply(let path): reply?.text(at: path)
        case .onlyFor(let wanted, let rule): wanted == purpose ? text(rule) : nil
        case .firstOf(let rules): firstText(rules)
        case .all(let rules): texts(rules, needAll: true)?.joined()
        case .joined(let rules, let separator): texts(rules, needAll: false)?.joined(separator: separator)
        case .transformed(let transform, let rule): text(rule).flatMap(transform.applied)
        case .upTo(let mark, let rule): text(rule).map { Self.head(of: $0, before: mark) }
        case .replacing(let old, let new, let rule): replacing(old, new, rule)
        case .from(let source, let rule): text(source).flatMap { reading(KeyURI($0)).text(rule) }
        case .template(let template): filled(TemplateText(template))
        case .json(let template): template.text(self)
        }
    }

    private func text(_ value: RequestValue) -> String? {
        switch value {
        case .contentID: contentID
        case .spcIdentifier: spcIdentifier?.text
        case .spc: spc?.bytes.revealed.base64EncodedString()
        case .spcURLSafe: spc.map { $0.bytes.revealed.base64EncodedString().inURLSafeAlphabet }
        case .messageID: messageID
        }
    }

    /// The text that a rule returns, or an error that names the missing value.
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

    private static func tail(of text: String, after mark: String) -> String? {
        text.range(of: mark, options: [.backwards, .literal]).map { String(text[$0.upperBound...]) }
    }

    private static func head(of text: String, before mark: String) -> String {
        text.range(of: mark, options: .literal).map { String(text[..<$0.lowerBound]) } ?? text
    }

    // A lazy chain would evaluate each rule twice, and so nested rules exponentially often.
    private func firstText(_ rules: [TextRule]) -> String? {
        for rule in rules {
            if let text = text(rule), !text.isEmpty { return text }
        }
        return nil
    }

    private func texts(_ rules: [TextRule], needAll: Bool) -> [String]? {
        let texts = rules.compactMap { text($0) }
        guard !texts.isEmpty, !needAll || texts.count == rules.count else { return nil }
        return texts
    }

    private func replacing(_ old: String, _ new: TextRule, _ rule: TextRule) -> String? {
        guard let subject = text(rule), let replacement = text(new) else { return nil }
        guard let place = subject.range(of: old, options: .literal) else { return subject }
        return subject.replacingCharacters(in: place, with: replacement)
    }

    private func reading(_ uri: KeyURI) -> RuleContext {
        var context = self
        context.keyURI = uri
        return context
    }

    private func filled(_ template: TemplateText) -> String? {
        var filled = ""
        for part in template.parts {
            switch part {
            case .text(let text): filled += text
            case .name(let name):
                guard let value = text(TemplateText.rule(of: name)) else { return nil }
                filled += value
            }
        }
        return filled
    }
}

extension KeyURIPart {
    /// This part of a key URI; `nil` if the URI has none.
    func text(of uri: KeyURI) -> String? {
        switch self {
        case .wholeURI: uri.raw
        case .remainder: uri.remainder
        case .remainderBeforeQuery: uri.remainderBeforeQuery
        case .afterFirstQuestionMark: uri.query
        case .afterLastQuestionMark: uri.afterLastQuestionMark
        case .lastPathComponent: uri.lastPathComponent
        case .host: uri.host
        case .hostName: uri.hostName
        case .firstQueryValue: uri.queryItems.first?.value
        case .httpsURI: uri.webAddress
        }
    }
}

extension TextTransform {
    /// The text after the change; `nil` if the text does not allow it.
    func applied(to text: String) -> String? {
        switch self {
        case .base64Decoded: Data(lenientBase64: text).flatMap { String(data: $0, encoding: .utf8) }
        case .base64: Data(text.utf8).base64EncodedString()
        case .percentDecoded: text.removingPercentEncoding
        case .percentEncoded: text.percentEncoded
        case .ifBase64:
            !text.contains { $0.isWhitespace } && Data(base64Encoded: text)?.isEmpty == false ? text : nil
        }
    }
}

extension String {
    var inURLSafeAlphabet: String {
        replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
    }
}
