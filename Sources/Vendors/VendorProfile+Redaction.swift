public import LatchkeyCore

extension VendorProfile {
    /// What must not be shown: what the profile states, and every header, query item and form field that carries a credential.
    public var redaction: Redaction {
        var redaction = statedRedaction
        let context = RuleContext(settings: settings)
        for request in [certificate.request, lookup?.request, license, renewalRequest].compactMap({ $0 }) {
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

extension TextRule {
    fileprivate var carriesCredential: Bool { !names.credentials.isEmpty }
}

extension BodyRule {
    fileprivate var fields: [Field] {
        switch self {
        case .form(let fields), .formWithKeyURIQuery(let fields), .multipart(let fields): fields
        case .raw, .base64Text, .json: []
        }
    }
}
