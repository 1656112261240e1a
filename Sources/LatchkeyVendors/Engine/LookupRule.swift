import Foundation
import LatchkeyCore

/// A request for values that the certificate and license requests need, such as an entitlement's token URL or a delivery document.
///
/// Source: `Documentation/Vendors/README.md` §23.3, `entitlement` and `deliveryJSON`.
package struct LookupRule: Sendable, Hashable {
    /// How often the request is sent.
    package var scope: LookupScope
    /// The request.
    package var request: RequestRule
    /// The values to keep: JSON paths by the names that `TextRule.lookup` reads. All are required.
    package var values: [String: String]
    /// JSON paths whose values have to be `true`.
    package var allowedBy: [String]
    /// JSON paths whose values must repeat the sent values.
    package var echoes: [String: TextRule]
    /// The name of the value that a reply of the type `text/uri-list` is; `nil` if only JSON is read.
    package var uriList: String?
    /// How to read a refusal.
    package var errors: ErrorRules

    /// Makes a rule.
    package init(
        _ scope: LookupScope, request: RequestRule, values: [String: String], allowedBy: [String] = [],
        echoes: [String: TextRule] = [:], uriList: String? = nil, errors: ErrorRules = ErrorRules()
    ) {
        self.scope = scope
        self.request = request
        self.values = values
        self.allowedBy = allowedBy
        self.echoes = echoes
        self.uriList = uriList
        self.errors = errors
    }
}

extension LookupRule {
    /// The values of a reply.
    /// - Throws: `IntegrationError`: the refusal, or `lookupMalformed`.
    func values(of reply: HTTPReply, _ context: RuleContext) throws(IntegrationError) -> [String: Secret] {
        try errors.check(reply)
        let service = errors.summary(of: reply)
        if let uriList, let address = Self.firstAddress(in: reply.body) { return [uriList: Secret(address)] }
        guard let json = JSONReply(reply.body) else {
            throw IntegrationError(
                .lookupMalformed, "The reply should be JSON, and is \(Recognition(reply.body).described(reply.body)).",
                service: service)
        }
        for (path, rule) in echoes.sorted(by: { $0.key < $1.key }) where json.text(at: path) != context.text(rule) {
            throw IntegrationError(
                .lookupMalformed, "The reply's \"\(path)\" does not repeat the sent value.", service: service)
        }
        if let path = allowedBy.first(where: { json.text(at: $0) != "true" }) {
            throw IntegrationError(
                errors.documented(service) ?? DocumentedCode(.forbidden),
                "The service says no (\"\(path)\" is not true)\(service.words).", service: service)
        }
        var found: [String: Secret] = [:]
        for (name, path) in values.sorted(by: { $0.key < $1.key }) {
            guard let text = json.text(at: path), !text.isEmpty else {
                throw IntegrationError(.lookupMalformed, "The JSON reply has no \"\(path)\".", service: service)
            }
            found[name] = Secret(text)
        }
        return found
    }

    /// The first web address of a list, in which lines that begin with `#` are comments. Source: RFC 2483 §5.
    private static func firstAddress(in body: Data) -> String? {
        guard body.count <= 65_536, let text = String(data: body, encoding: .utf8) else { return nil }
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        guard let first = lines.first(where: { !$0.isEmpty && !$0.hasPrefix("#") }),
            ["http", "https"].contains(KeyURI(first).scheme?.lowercased() ?? "")
        else { return nil }
        return first
    }
}
