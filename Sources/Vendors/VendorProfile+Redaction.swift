public import LatchkeyCore

extension VendorProfile {
    /// What must not be shown: what the profile states, and every header, query item and form field that carries a credential
    /// or a value of the session.
    public var redaction: Redaction {
        var redaction = statedRedaction
        let context = RuleContext(settings: settings)
        for request in requests {
            for header in request.headers where header.value.carriesCredential {
                redaction.headers.insert(context.text(.template(header.name)) ?? header.name)
            }
            for case .setQuery(let name, let rule) in request.url.changes where rule.carriesCredential {
                redaction.queryItems.insert(name)
            }
            for case .addQueryIfAbsent(let name, let rule) in request.url.changes where rule.carriesCredential {
                redaction.queryItems.insert(name)
            }
            for field in request.body?.fields ?? [] where field.value.carriesCredential {
                redaction.fields.insert(field.name)
            }
        }
        return redaction
    }
}

extension VendorProfile {
    private var requests: [RequestRule] {
        [certificate.request, lookup?.request, license, renewalRequest].compactMap { $0 } + (session?.requests ?? [])
    }
}

extension TextRule {
    fileprivate var carriesCredential: Bool { !names.credentials.isEmpty || readsSession }

    private var readsSession: Bool {
        switch self {
        case .session: true
        case .firstOf(let rules), .all(let rules), .joined(let rules, _): rules.contains(where: \.readsSession)
        case .base64Decoded(let rule), .base64(let rule), .percentDecoded(let rule), .percentEncoded(let rule),
            .ifBase64(let rule), .upTo(_, let rule), .onlyFor(_, let rule):
            rule.readsSession
        case .replacing(_, let replacement, let rule): replacement.readsSession || rule.readsSession
        case .json(let template): template.rules.contains(where: \.readsSession)
        default: false
        }
    }
}

extension BodyRule {
    fileprivate var fields: [Field] {
        switch self {
        case .form(let fields), .formWithKeyURIQuery(let fields), .multipart(let fields): fields
        case .raw, .base64Text, .json: []
        }
    }
}
