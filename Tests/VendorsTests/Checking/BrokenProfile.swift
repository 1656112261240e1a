import Testing

/// One change that breaks the documented profile, and the check's expected finding.
struct BrokenProfile: Sendable, CustomTestStringConvertible {
    /// The place of the value.
    let place: String
    /// The value, as JSON; if it is empty, the member is removed.
    let value: String
    /// The problem's field and a part of its reason.
    let field, reason: String

    init(_ place: String, _ value: String, _ field: String? = nil, says reason: String) {
        (self.place, self.value, self.field, self.reason) = (place, value, field ?? place, reason)
    }

    var testDescription: String { "\(place) = \(value.isEmpty ? "nothing" : value)" }

    static let wrongForms = [
        BrokenProfile("identifier", "", says: "missing"),
        BrokenProfile("name", "7", says: "Write a text"),
        BrokenProfile("parameters", "{}", says: "Write a list"),
        BrokenProfile("parameters[1].meaning", "", says: "missing"),
        BrokenProfile("parameters[1].isRequired", "\"yes\"", says: "Write true or false"),
        BrokenProfile("parameters[0]", "\"token\"", says: "Write members in braces"),
        BrokenProfile("contentIdentifier", "\"lastPathPart\"", says: "\"lastPathPart\" is not a rule"),
        BrokenProfile("contentIdentifier", "3", says: "This is not a rule"),
        BrokenProfile("contentIdentifier", "{\"query\": 3}", "contentIdentifier.query", says: "Write a text"),
        BrokenProfile("contentIdentifier", "\"query\"", says: "\"query\" needs a parameter"),
        BrokenProfile("contentIdentifier", "{\"host\": 1, \"query\": \"k\"}", says: "exactly one of"),
        BrokenProfile("contentIdentifier", "{\"host\": 1}", "contentIdentifier.host", says: "has no parameter"),
        BrokenProfile("certificate", "", says: "missing"),
        BrokenProfile("certificate.fetched.decoder", "\"pem\"", says: "der, base64Text, json, sniff"),
        BrokenProfile("certificate.fetched.request", "", says: "missing"),
        BrokenProfile("license", "", says: "missing"),
        BrokenProfile("license.url", "\"https://keys.example\"", says: "Write members in braces"),
        BrokenProfile("license.url.base", "{\"settting\": \"licenseURL\"}", says: "\"settting\" is not a rule"),
        BrokenProfile("license.url.changes[0].setQuery.value", "", says: "missing"),
        BrokenProfile("license.headers[0].name", "", says: "missing"),
        BrokenProfile("license.headers[0].value.all", "\"host\"", says: "Write a list"),
        BrokenProfile("license.headers[0].value.all[1]", "\"token\"", says: "\"token\" is not a rule"),
        BrokenProfile("license.body", "{\"xml\": {}}", says: "raw, base64Text, form"),
        BrokenProfile("license.body.json.spc.$", "\"SPC\"", says: "\"SPC\" is not a rule"),
        BrokenProfile(
            "license.body", "{\"form\": [{\"name\": \"s\", \"value\": \"spc\", \"escaping\": \"html\"}]}",
            "license.body.form[0].escaping", says: "percent, none"),
        BrokenProfile("decoder", "\"json\"", says: "needs a parameter"),
        BrokenProfile("decoder", "null", says: "missing"),
        BrokenProfile("errors.kinds.E17", "\"tokenExpired\"", says: "Write one of unknownIntegration"),
        BrokenProfile("errors.code[0]", "{\"body\": \"x\"}", says: "header, json, word, knownCode"),
        BrokenProfile("token", "\"JWT\"", says: "opaque, jwt"),
        BrokenProfile("renewal", "{\"minimumLead\": \"60\"}", "renewal.minimumLead", says: "Write a whole number"),
        BrokenProfile("terms.lease", "300", says: "This is not a rule"),
        BrokenProfile("session", "{\"setting\": \"sessionURL\"}", "session.heartbeat", says: "missing"),
        BrokenProfile("lookup", "{\"scope\": \"once\"}", "lookup.scope", says: "never, key, loader"),
    ]

    static let misspelled = [
        BrokenProfile("hots", "[\"keys.example\"]", says: "There is no such member"),
        BrokenProfile("parameters[0].optional", "true", says: "There is no such member"),
        BrokenProfile("license.header", "[]", says: "There is no such member"),
        BrokenProfile("license.url.change", "[]", says: "There is no such member"),
        BrokenProfile("license.headers[0].values", "\"host\"", says: "There is no such member"),
        BrokenProfile("errors.requestId", "[]", says: "There is no such member"),
        BrokenProfile("terms.leases", "\"host\"", says: "There is no such member"),
        BrokenProfile("renewal.lead", "60", says: "There is no such member"),
        BrokenProfile("redaction.query", "[]", says: "There is no such member"),
        BrokenProfile("certificate.fetched.settting", "\"x\"", says: "There is no such member"),
    ]

    static let senseless = [
        BrokenProfile("identifier", "\"Acme DRM\"", says: "lower-case letters"),
        BrokenProfile("identifier", "\"acme-\"", says: "lower-case letters"),
        BrokenProfile("name", "\" \"", says: "empty"),
        BrokenProfile("hosts", "[\"https://keys.example/\"]", "hosts[0]", says: "HOST:PORT"),
        BrokenProfile("parameters[1].name", "\"certificateURL\"", says: "Another parameter"),
        BrokenProfile("parameters[2].name", "\"client id\"", says: "letters, digits"),
        BrokenProfile("parameters[2].meaning", "\"\"", says: "empty"),
        BrokenProfile("parameters[2].example", "\"\"", says: "empty"),
        BrokenProfile("parameters[0].example", "\"keys.example/fairplay.cer\"", says: "not an https URL"),
        BrokenProfile("parameters[0].example", "\"http://keys.example/fairplay.cer\"", says: "not an https URL"),
        BrokenProfile("license.url.base", "{\"setting\": \"licenceURL\"}", says: "\"licenceURL\", which is not among"),
        BrokenProfile("license.url.base", "{\"setting\": \"certificateURL\"}", "parameters[1]", says: "No rule reads"),
        BrokenProfile("license.url.base", "{\"template\": \"https://{hots}/\"}", says: "setting \"hots\""),
        BrokenProfile("license.url.base", "{\"template\": \"https://{host/\"}", says: "not paired"),
        BrokenProfile("license.url.base", "{\"fixed\": \"keys.example\"}", says: "not an https URL"),
        BrokenProfile("license.url.base", "{\"lookup\": \"url\"}", says: "the lookup, which does not keep"),
        BrokenProfile(
            "license.headers[0].value", "{\"setting\": \"token\"}", says: "\"token\" as a setting"),
        BrokenProfile("license.headers[0].value", "{\"credential\": \"jwt\"}", says: "the credential \"jwt\""),
        BrokenProfile("license.headers[0].value", "{\"all\": []}", says: "combines no rules"),
        BrokenProfile("license.headers[0].value", "{\"reply\": \"lease\"}", says: "Only terms"),
        BrokenProfile("license.headers[0].name", "\"x token\"", says: "not a valid header field name"),
        BrokenProfile("license.headers[0].name", "\"{header}\"", says: "setting \"header\""),
        BrokenProfile("license.body.json.spc", "\"spc\"", "license", says: "SPC nowhere"),
        BrokenProfile(
            "license.body", "{\"form\": [{\"name\": \"\", \"value\": \"spc\"}]}",
            "license.body.form[0].name", says: "empty"),
        BrokenProfile("license.method", "", "license.body", says: "GET has no body"),
        BrokenProfile("license.method", "\"post\"", says: "capital letters"),
        BrokenProfile("contentIdentifier", "\"contentID\"", says: "cannot read it"),
        BrokenProfile("decoder.json", "[]", "decoder", says: "no path"),
        BrokenProfile("errors.successes", "[]", says: "200 to 399"),
        BrokenProfile("errors.code", "", "errors.kinds.E17", says: "looked for nowhere"),
        BrokenProfile("settings.clinet", "\"web\"", says: "no parameter"),
        BrokenProfile("settings.token", "\"AAAA\"", says: "does not belong"),
        BrokenProfile("settings.licenseURL", "\"keys.example\"", says: "not an https URL"),
        BrokenProfile("renewal", "{\"interval\": 0}", "renewal.interval", says: "not positive"),
        BrokenProfile("sideValues", "{\"session\": \"\"}", "sideValues.session", says: "empty"),
    ]
}
