import LatchkeyCore
import LatchkeyForms

extension RequestRule {
    static let form = ObjectForm(
        empty: RequestRule(url: URLRule("")),
        members: [
            .defaulting("method", \.method, .anyText, to: "GET"), .required("url", \.url, URLRule.form.form),
            .defaulting("headers", \.headers, .list(Header.form.form), to: []), .optional("body", \.body, .body),
        ], takesNull: true)
}

extension RequestRule.Header {
    static let form = ObjectForm(
        empty: Self("", ""),
        members: [.required("name", \.name, .anyText), .required("value", \.value, .textRule)])
}

extension URLRule {
    fileprivate static let form = ObjectForm(
        empty: URLRule(""),
        members: [
            .required("base", \.base, .textRule), .defaulting("changes", \.changes, .list(.change), to: []),
        ], takesNull: true)
}

extension JSONForm<URLRule.Change> {
    /// A query item is written as a header field is: `name` and `value`.
    private static let item = RequestRule.Header.form.form

    static let change: JSONForm<URLRule.Change> = rules([
        .alone("stripQuery", .stripQuery), .with("setQuery", item) { .setQuery(name: $0.name, value: $0.value) },
        .with("addQueryIfAbsent", item) { .addQueryIfAbsent(name: $0.name, value: $0.value) },
        .with("copyKeyURIQuery", JSONForm<[String]>.list(.anyText)) { .copyKeyURIQuery(names: $0) },
        .with("copyKeyURIQueryIfAbsent", JSONForm<[String]>.list(.anyText)) { .copyKeyURIQueryIfAbsent(names: $0) },
        .with("appendPath", .textRule) { .appendPath($0) },
        .with("appendPathIfAbsent", .textRule) { .appendPathIfAbsent($0) },
        .with("useOrigin", .textRule) { .useOrigin($0) },
    ]) { change in
        switch change {
        case .stripQuery: .text("stripQuery")
        case .setQuery(let name, let value): .object(["setQuery": item.write(.init(name, value))])
        case .addQueryIfAbsent(let name, let value): .object(["addQueryIfAbsent": item.write(.init(name, value))])
        case .copyKeyURIQuery(let names): .object(["copyKeyURIQuery": .array(names.map { .text($0) })])
        case .copyKeyURIQueryIfAbsent(let names): .object(["copyKeyURIQueryIfAbsent": .array(names.map { .text($0) })])
        case .appendPath(let rule): .object(["appendPath": JSONForm<TextRule>.textRule.write(rule)])
        case .appendPathIfAbsent(let rule): .object(["appendPathIfAbsent": JSONForm<TextRule>.textRule.write(rule)])
        case .useOrigin(let rule): .object(["useOrigin": JSONForm<TextRule>.textRule.write(rule)])
        }
    }
}

extension BodyRule {
    /// The rule's name in JSON.
    var name: String {
        switch self {
        case .raw: "raw"
        case .base64Text: "base64Text"
        case .form: "form"
        case .formWithKeyURIQuery: "formWithKeyURIQuery"
        case .json: "json"
        case .multipart: "multipart"
        }
    }
}

extension JSONForm<BodyRule> {
    private static let fields = JSONForm<[BodyRule.Field]>.list(BodyRule.Field.form.form)

    static let body: JSONForm<BodyRule> = rules([
        .alone("raw", .raw), .alone("base64Text", .base64Text), .with("form", fields) { .form($0) },
        .with("formWithKeyURIQuery", fields) { .formWithKeyURIQuery($0) }, .with("json", .template) { .json($0) },
        .with("multipart", fields) { .multipart($0) },
    ]) { body in
        switch body {
        case .raw, .base64Text: .text(body.name)
        case .form, .formWithKeyURIQuery, .multipart: .object([body.name: fields.write(body.fields)])
        case .json(let template): .object([body.name: JSONForm<JSONTemplate>.template.write(template)])
        }
    }
}

extension BodyRule.Field {
    static let form = ObjectForm(
        empty: Self("", ""),
        members: [
            .required("name", \.name, .anyText), .required("value", \.value, .textRule),
            .defaulting("escaping", \.escaping, .word, to: .percent),
        ], takesNull: true)
}
