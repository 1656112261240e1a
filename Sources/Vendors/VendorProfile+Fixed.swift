public import Foundation
import LatchkeyCore

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

// What a profile can say before there is a key, and without waiting: for players that send requests themselves.
extension VendorProfile {
    /// The license request with credentials that are at hand.
    public func licenseRequest(
        for spc: SPCMessage, _ context: LicenseContext, credentials: CredentialSet
    ) throws -> URLRequest {
        let request = context.purpose == .renewal ? renewalRequest ?? license : license
        try requireSettings(of: request)
        var rules = RuleContext(license: context, spc: spc)
        rules.settings = settings
        rules.credentials = try checked(credentials, for: request)
        rules.contentID =
            try requestContentID.map { rule throws(IntegrationError) in
                try rules.requiredText(rule, for: "content id of the request")
            } ?? rules.text(contentIdentifierRule)
        return try request.request(rules)
    }

    /// The required credentials of the license request that are not among those given.
    public func missingCredentials(in given: CredentialSet) -> [String] {
        missingCredentials(in: given, for: license).map(\.name)
    }

    /// The address of the license request, nil where it differs from key to key, and its header fields.
    /// - Throws: `IntegrationError` `invalidRequest` where a header field differs from key to key.
    public func fixedLicenseParts(credentials: CredentialSet) throws -> (url: URL?, headers: [String: String]) {
        try requireSettings(of: license)
        if let header = license.headers.first(where: { !$0.value.isFixed }) {
            throw IntegrationError(
                .invalidRequest, "The header \(header.name) of \(name) differs from key to key.",
                remedy: "Use a player that leaves the requests to the app.")
        }
        let rules = RuleContext(settings: settings, credentials: try checked(credentials, for: license))
        let url = license.url.isFixed ? try license.url.url(rules, for: "license URL") : nil
        var headers: [String: String] = [:]
        headers["Content-Type"] = license.body?.contentType
        for header in license.headers {
            guard let value = rules.text(header.value), !value.isEmpty else { continue }
            headers[try header.fieldName(rules)] = value
        }
        return (url, headers)
    }
}

extension URLRule {
    /// Whether the URL is the same for every key.
    fileprivate var isFixed: Bool {
        rules.allSatisfy(\.isFixed)
            && changes.allSatisfy { change in
                switch change {
                case .copyKeyURIQuery, .copyKeyURIQueryIfAbsent: false
                default: true
                }
            }
    }
}

extension TextRule {
    /// Whether the text is the same for every key, where nothing is looked up and no session is kept.
    fileprivate var isFixed: Bool {
        switch self {
        case .fixed, .setting, .credential, .lookup, .session: true
        case .template(let text): TemplateText(text).names.allSatisfy { RuleContext.templateRules[$0] == nil }
        case .firstOf(let rules), .all(let rules), .joined(let rules, _): rules.allSatisfy(\.isFixed)
        case .base64Decoded(let rule), .base64(let rule), .percentDecoded(let rule), .percentEncoded(let rule),
            .ifBase64(let rule), .upTo(_, let rule), .onlyFor(_, let rule):
            rule.isFixed
        case .replacing(_, let replacement, let rule): replacement.isFixed && rule.isFixed
        case .json(let template): template.rules.allSatisfy(\.isFixed)
        default: false
        }
    }
}
