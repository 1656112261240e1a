import LatchkeyCore
import LatchkeyForms

// A profile's JSON leaves out members with default values.
extension VendorProfile: Encodable {
    static let form = ObjectForm(
        empty: VendorProfile(
            identifier: "", name: "", parameters: [], contentIdentifierRule: "", certificate: .inline(setting: ""),
            license: RequestRule(url: URLRule("")), decoder: .raw),
        members: [
            .required("identifier", \.identifier, .anyText), .required("name", \.name, .anyText),
            .defaulting("parameters", \.parameters, .list(Parameter.form.form), to: []),
            .required("contentIdentifier", \.contentIdentifierRule, .textRule),
            .optional("requestContentID", \.requestContentID, .textRule),
            .required("certificate", \.certificate, .certificateRule),
            .optional("lookup", \.lookup, LookupRule.form.form), .optional("session", \.session, SessionRule.form.form),
            .required("license", \.license, RequestRule.form.form),
            .optional("renewalRequest", \.renewalRequest, RequestRule.form.form),
            .required("decoder", \.decoder, .ckcDecoder),
            .defaulting("sideValues", \.sideValues, .members(.anyText, .anyText), to: [:]),
            .optional("terms", \.terms, TermsRule.form.form), .section("renewal", \.renewal, RenewalPolicy.form),
            .section("errors", \.errors, ErrorRules.form), .defaulting("token", \.token, .word, to: .opaque),
            .defaulting("hosts", \.hosts, .list(.anyText), to: []),
            .section("redaction", \.statedRedaction, Redaction.form),
            .defaulting("settings", \.settings, .members(.anyText, .anyText), to: [:]),
            .optional("evidence", \.evidence, ProfileEvidence.form.form),
        ], takesNull: true)

    public func encode(to encoder: any Encoder) throws { try Self.form.write(self).encode(to: encoder) }
}

extension VendorProfile.Parameter {
    static let form = ObjectForm(
        empty: Self.setting("", "", example: ""),
        members: [
            .required("name", \.name, .anyText), .required("meaning", \.meaning, .anyText),
            .required("isRequired", \.isRequired, .flag), .required("isCredential", \.isCredential, .flag),
            .required("example", \.example, .anyText), .optional("alias", \.alias, .anyText),
            .optional("values", \.values, .list(.anyText)),
            .optional("maximumLength", \.maximumLength, .whole(1...1_000_000)),
            .optional("condition", \.condition, Condition.form.form),
        ], takesNull: true)
}

extension VendorProfile.Parameter.Condition {
    static let form = ObjectForm(
        empty: Self(setting: "", values: []),
        members: [.required("setting", \.setting, .anyText), .required("values", \.values, .list(.anyText))])
}

extension LookupRule {
    static let form = ObjectForm(
        empty: LookupRule(.key, request: RequestRule(url: URLRule("")), values: [:]),
        members: [
            .required("scope", \.scope, .word), .required("request", \.request, RequestRule.form.form),
            .required("values", \.values, .members(.anyText, .anyText)),
            .defaulting("allowedBy", \.allowedBy, .list(.anyText), to: []),
            .defaulting("echoes", \.echoes, .members(.anyText, .textRule), to: [:]),
            .optional("uriList", \.uriList, .anyText), .section("errors", \.errors, ErrorRules.form),
        ], takesNull: true)
}

extension SessionRule {
    static let form = ObjectForm(
        empty: SessionRule(
            heartbeat: RequestRule(url: URLRule("")), teardown: RequestRule(url: URLRule("")), values: [:], period: ""),
        members: [
            .optional("setting", \.setting, .anyText), .optional("setup", \.setup, RequestRule.form.form),
            .required("heartbeat", \.heartbeat, RequestRule.form.form),
            .required("teardown", \.teardown, RequestRule.form.form),
            .required("values", \.values, .members(.anyText, .anyText)), .required("period", \.period, .anyText),
            .optional("enforcedBy", \.enforcedBy, .anyText), .optional("errors", \.errors, ErrorRules.form.form),
        ], takesNull: true)
}

extension TermsRule {
    static let form = ObjectForm(
        empty: TermsRule(),
        members: [
            .optional("lease", \.lease, .textRule), .optional("rental", \.rental, .textRule),
            .optional("storage", \.storage, .textRule), .optional("playback", \.playback, .textRule),
        ], takesNull: true)
}

extension RenewalPolicy {
    static let form = ObjectForm(
        empty: RenewalPolicy(),
        members: [
            .defaulting("minimumLead", \.minimumLead, .seconds, to: RenewalPolicy().minimumLead),
            .defaulting("minimumInterval", \.minimumInterval, .seconds, to: 0),
            .optional("interval", \.interval, .seconds),
            .defaulting("renewsStoredKeys", \.renewsStoredKeys, .flag, to: true),
            .optional("cacheLifetime", \.cacheLifetime, .seconds),
        ], takesNull: true)
}

extension JSONForm<Int> {
    /// Up to some thirty years.
    fileprivate static let seconds = whole(0...1_000_000_000)
}

extension Redaction {
    static let form = ObjectForm(
        empty: Redaction(),
        members: [
            .defaulting("headers", \.headers, .set(.anyText), to: []),
            .defaulting("queryItems", \.queryItems, .set(.anyText), to: []),
            .defaulting("fields", \.fields, .set(.anyText), to: []),
        ], takesNull: true)
}

extension ProfileEvidence {
    static let form = ObjectForm(
        empty: ProfileEvidence(.sampleRead, read: "", ""),
        members: [
            .required("level", \.level, .word), .required("read", \.read, .anyText),
            .required("source", \.source, .anyText),
        ])
}
