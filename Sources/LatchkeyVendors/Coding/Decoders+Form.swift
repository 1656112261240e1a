import LatchkeyCore
import LatchkeyForms

extension JSONForm<CKCDecoder> {
    static let ckcDecoder: JSONForm<CKCDecoder> = rules([
        .alone("raw", .raw), .alone("base64Text", .base64Text), .alone("tagged", .tagged),
        .with("json", JSONForm<[String]>.list(.anyText)) { .json($0) },
        .with("jsonOr", JSONOr.form.form) { .jsonOr($0.paths, $0.other) }, .alone("tolerant", .tolerant),
        .with("preferring", .ckcDecoder) { .preferring($0) },
    ]) { decoder in
        switch decoder {
        case .raw: .text("raw")
        case .base64Text: .text("base64Text")
        case .tagged: .text("tagged")
        case .json(let paths): .object(["json": .array(paths.map { .text($0) })])
        case .jsonOr(let paths, let other): .object(["jsonOr": JSONOr.form.write(JSONOr(paths: paths, other: other))])
        case .tolerant: .text("tolerant")
        case .preferring(let decoder): .object(["preferring": ckcDecoder.write(decoder)])
        }
    }
}

private struct JSONOr: Sendable {
    var paths: [String] = []
    var other = CKCDecoder.raw

    static let form: ObjectForm<JSONOr> = ObjectForm(
        empty: Self(),
        members: [.required("paths", \.paths, .list(.anyText)), .required("else", \.other, .ckcDecoder)])
}

extension JSONForm<CertificateDecoder> {
    static let certificateDecoder: JSONForm<CertificateDecoder> = rules([
        .alone("der", .der), .alone("base64Text", .base64Text), .with("json", .anyText) { .json($0) },
        .alone("sniff", .sniff),
    ]) { decoder in
        switch decoder {
        case .der: .text("der")
        case .base64Text: .text("base64Text")
        case .json(let path): .object(["json": .text(path)])
        case .sniff: .text("sniff")
        }
    }
}

extension JSONForm<VendorProfile.CertificateRule> {
    static let certificateRule: JSONForm<VendorProfile.CertificateRule> = rules([
        .with("fetched", Fetched.form().form) { .fetched($0.request, $0.decoder) },
        .with("inline", .anyText) { .inline(setting: $0) },
        .with("inlineOrFetched", Fetched.form(Fetched.setting).form) {
            .inlineOrFetched(setting: $0.setting, $0.request, $0.decoder)
        },
    ]) { rule in
        switch rule {
        case .fetched(let request, let decoder):
            .object(["fetched": Fetched.form().write(Fetched(request: request, decoder: decoder))])
        case .inline(let setting): .object(["inline": .text(setting)])
        case .inlineOrFetched(let setting, let request, let decoder):
            .object([
                "inlineOrFetched": Fetched.form(Fetched.setting).write(
                    Fetched(setting: setting, request: request, decoder: decoder))
            ])
        }
    }
}

private struct Fetched: Sendable {
    var setting = SettingName.certificate
    var request = RequestRule(url: URLRule(""))
    var decoder = CertificateDecoder.der

    static var setting: Member<Fetched> {
        .defaulting("setting", \.setting, .anyText, to: SettingName.certificate)
    }

    static func form(_ setting: Member<Fetched>...) -> ObjectForm<Fetched> {
        ObjectForm(
            empty: Self(),
            members: setting + [
                .required("request", \.request, RequestRule.form.form),
                .required("decoder", \.decoder, .certificateDecoder),
            ], takesNull: true)
    }
}
