import Testing

/// One change that breaks the documented profile, and what the check has to say of it.
struct BrokenProfile: Sendable, CustomTestStringConvertible {
    /// Where a value is put.
    let place: String
    /// The value, as JSON; the member is removed where it is empty.
    let value: String
    /// The problem's field and a part of its reason.
    let field, reason: String

    init(_ place: String, _ value: String, _ field: String? = nil, says reason: String) {
        (self.place, self.value, self.field, self.reason) = (place, value, field ?? place, reason)
    }

    var testDescription: String { "\(place) = \(value.isEmpty ? "nothing" : value)" }

    static let wrongForms = [
        BrokenProfile("identifier", "", says: "missing"),
        BrokenProfile("name", "7", says: "should be a text"),
        BrokenProfile("parameters", "{}", says: "should be an array"),
        BrokenProfile("parameters[1].meaning", "", says: "missing"),
        BrokenProfile("parameters[1].isRequired", "\"yes\"", says: "should be true or false"),
        BrokenProfile("parameters[0]", "\"token\"", says: "should be an object"),
        BrokenProfile("contentIdentifier", "\"lastPathPart\"", says: "\"lastPathPart\" is no rule"),
        BrokenProfile("contentIdentifier", "3", says: "This is no rule"),
        BrokenProfile("contentIdentifier", "{\"query\": 3}", "contentIdentifier.query", says: "should be a text"),
        BrokenProfile("contentIdentifier", "\"query\"", says: "\"query\" needs a parameter"),
        BrokenProfile("contentIdentifier", "{\"host\": 1, \"query\": \"k\"}", says: "exactly one of"),
        BrokenProfile("contentIdentifier", "{\"host\": 1}", "contentIdentifier.host", says: "Nothing reads"),
        BrokenProfile("certificate", "", says: "missing"),
        BrokenProfile("certificate.fetched.decoder", "\"pem\"", says: "der, base64Text, json, sniff"),
        BrokenProfile("certificate.fetched.request", "", says: "missing"),
        BrokenProfile("license", "", says: "missing"),
        BrokenProfile("license.url", "\"https://keys.example\"", says: "should be an object"),
        BrokenProfile("license.url.base", "{\"settting\": \"licenseURL\"}", says: "\"settting\" is no rule"),
        BrokenProfile("license.url.changes[0].setQuery.value", "", says: "missing"),
        BrokenProfile("license.headers[0].name", "", says: "missing"),
        BrokenProfile("license.headers[0].value.all", "\"host\"", says: "should be an array"),
        BrokenProfile("license.headers[0].value.all[1]", "\"token\"", says: "\"token\" is no rule"),
        BrokenProfile("license.body", "{\"xml\": {}}", says: "raw, base64Text, form"),
        BrokenProfile("license.body.json.spc.$", "\"SPC\"", says: "\"SPC\" is no rule"),
        BrokenProfile(
            "license.body", "{\"form\": [{\"name\": \"s\", \"value\": \"spc\", \"escaping\": \"html\"}]}",
            "license.body.form[0].escaping", says: "percent, none"),
        BrokenProfile("decoder", "\"json\"", says: "needs a parameter"),
        BrokenProfile("decoder", "null", says: "This is no rule"),
        BrokenProfile("errors.kinds.E17", "\"tokenExpired\"", says: "not one of unknownIntegration"),
        BrokenProfile("errors.code[0]", "{\"body\": \"x\"}", says: "header, json, word, knownCode"),
        BrokenProfile("token", "\"JWT\"", says: "opaque, jwt"),
        BrokenProfile("renewal", "{\"minimumLead\": \"60\"}", "renewal.minimumLead", says: "should be a whole number"),
        BrokenProfile("terms.lease", "300", says: "This is no rule"),
        BrokenProfile("session", "{\"setting\": \"sessionURL\"}", "session.heartbeat", says: "missing"),
        BrokenProfile("lookup", "{\"scope\": \"once\"}", "lookup.scope", says: "never, key, loader"),
    ]

    static let misspelled = [
        BrokenProfile("hots", "[\"keys.example\"]", says: "reads this member"),
        BrokenProfile("parameters[0].optional", "true", says: "reads this member"),
        BrokenProfile("license.header", "[]", says: "reads this member"),
        BrokenProfile("license.url.change", "[]", says: "reads this member"),
        BrokenProfile("license.headers[0].values", "\"host\"", says: "reads this member"),
        BrokenProfile("errors.requestId", "[]", says: "reads this member"),
        BrokenProfile("terms.leases", "\"host\"", says: "reads this member"),
        BrokenProfile("renewal.lead", "60", says: "reads this member"),
        BrokenProfile("redaction.query", "[]", says: "reads this member"),
        BrokenProfile("certificate.fetched.settting", "\"x\"", says: "reads this member"),
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
        BrokenProfile("parameters[0].example", "\"keys.example/fairplay.cer\"", says: "no https URL"),
        BrokenProfile("parameters[0].example", "\"http://keys.example/fairplay.cer\"", says: "no https URL"),
        BrokenProfile("license.url.base", "{\"setting\": \"licenceURL\"}", says: "\"licenceURL\", which is not among"),
        BrokenProfile("license.url.base", "{\"setting\": \"certificateURL\"}", "parameters[1]", says: "No rule reads"),
        BrokenProfile("license.url.base", "{\"template\": \"https://{hots}/\"}", says: "setting \"hots\""),
        BrokenProfile("license.url.base", "{\"template\": \"https://{host/\"}", says: "not paired"),
        BrokenProfile("license.url.base", "{\"fixed\": \"keys.example\"}", says: "no https URL"),
        BrokenProfile("license.url.base", "{\"lookup\": \"url\"}", says: "the lookup, which does not keep"),
        BrokenProfile(
            "license.headers[0].value", "{\"setting\": \"token\"}", says: "\"token\" as a setting"),
        BrokenProfile("license.headers[0].value", "{\"credential\": \"jwt\"}", says: "the credential \"jwt\""),
        BrokenProfile("license.headers[0].value", "{\"all\": []}", says: "combines no rules"),
        BrokenProfile("license.headers[0].value", "{\"reply\": \"lease\"}", says: "Only terms"),
        BrokenProfile("license.headers[0].name", "\"x token\"", says: "no name of a header"),
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
        BrokenProfile("settings.licenseURL", "\"keys.example\"", says: "no https URL"),
        BrokenProfile("renewal", "{\"interval\": 0}", "renewal.interval", says: "not positive"),
        BrokenProfile("sideValues", "{\"session\": \"\"}", "sideValues.session", says: "empty"),
    ]
}
