import Foundation
import LatchkeyCore

/// A request whose reply holds what the certificate and license requests need: an entitlement's token URL, a delivery document.
///
/// Source: `vendors.md` §23.3, `entitlement` and `deliveryJSON`.
public struct LookupRule: Sendable, Hashable, Codable {
    /// How often it is asked for.
    public var scope: LookupScope
    /// The request.
    public var request: RequestRule
    /// The values to keep, by the name that `TextRule.lookup` reads and the JSON path where they stand. All are required.
    public var values: [String: String]
    /// JSON paths at which `true` has to stand for a yes.
    public var allowedBy: [String]
    /// JSON paths that have to repeat what was sent.
    public var echoes: [String: TextRule]
    /// How the service says no.
    public var errors: ErrorRules

    /// Makes a rule.
    public init(
        _ scope: LookupScope, request: RequestRule, values: [String: String], allowedBy: [String] = [],
        echoes: [String: TextRule] = [:], errors: ErrorRules = ErrorRules()
    ) {
        self.scope = scope
        self.request = request
        self.values = values
        self.allowedBy = allowedBy
        self.echoes = echoes
        self.errors = errors
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(LookupScope.self, forKey: .scope),
            request: try container.decode(RequestRule.self, forKey: .request),
            values: try container.decode([String: String].self, forKey: .values),
            allowedBy: try container.decodeIfPresent([String].self, forKey: .allowedBy) ?? [],
            echoes: try container.decodeIfPresent([String: TextRule].self, forKey: .echoes) ?? [:],
            errors: try container.decodeIfPresent(ErrorRules.self, forKey: .errors) ?? ErrorRules())
    }
}

extension LookupRule {
    /// The values of a reply.
    /// - Throws: what the service refused with, or `lookupMalformed`.
    func values(of reply: HTTPReply, _ context: RuleContext) throws(IntegrationError) -> [String: Secret] {
        try errors.check(reply)
        let service = errors.summary(of: reply)
        guard let json = JSONReply(reply.body) else {
            throw IntegrationError(
                .lookupMalformed, "The reply should be JSON, and is \(reply.body.apparentFormat).", service: service)
        }
        for (path, rule) in echoes.sorted(by: { $0.key < $1.key }) where json.text(at: path) != context.text(rule) {
            throw IntegrationError(
                .lookupMalformed, "The reply's \"\(path)\" does not repeat what was sent.", service: service)
        }
        if let path = allowedBy.first(where: { json.text(at: $0) != "true" }) {
            throw IntegrationError(.forbidden, "The service says no: \"\(path)\" is not true.", service: service)
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
}
