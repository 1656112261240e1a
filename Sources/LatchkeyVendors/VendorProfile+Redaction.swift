package import LatchkeyCore

extension VendorProfile {
    /// The values to redact: those stated in the profile, and every header, query item, form field and JSON member that carries a
    /// credential or a value of the session.
    package var redaction: Redaction {
        var redaction = statedRedaction
        let context = RuleContext(settings: settings)
        for (_, request) in placedRequests {
            for header in request.headers where header.value.carriesCredential {
                redaction.headers.insert(context.text(.template(header.name)) ?? header.name)
            }
            for item in request.url.changes.compactMap(\.queryItem) where item.value.carriesCredential {
                redaction.queryItems.insert(item.name)
            }
            for member in request.body?.members ?? [] where member.rules.contains(where: \.carriesCredential) {
                redaction.fields.insert(member.name)
            }
        }
        return redaction
    }
}
