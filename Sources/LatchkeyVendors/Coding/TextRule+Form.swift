import LatchkeyCore
import LatchkeyForms

extension JSONForm<TextRule> {
    static let textRule: JSONForm<TextRule> = rules(named + transforms + combinators, write: \.written)

    private static let named: [RuleForm<TextRule>] =
        KeyURIPart.allCases.map { .alone($0.rawValue, .keyURI($0)) }
        + RequestValue.allCases.map { .alone($0.rawValue, .request($0)) } + [
            .with("afterLast", .anyText) { .afterLast($0) }, .with("query", .anyText) { .query($0) },
            .with("fixed", .anyText) { .fixed($0) }, .with("setting", .anyText) { .setting($0) },
            .with("credential", .anyText) { .credential($0) }, .with("template", .anyText) { .template($0) },
            .with("lookup", .anyText) { .lookup($0) }, .with("session", .anyText) { .session($0) },
            .with("reply", .anyText) { .reply($0) },
        ]

    private static let transforms: [RuleForm<TextRule>] = TextTransform.allCases.map { transform in
        .with(transform.rawValue, .textRule) { .transformed(transform, $0) }
    }

    private static let combinators: [RuleForm<TextRule>] = [
        .with("firstOf", JSONForm<[TextRule]>.list(.textRule)) { .firstOf($0) },
        .with("all", JSONForm<[TextRule]>.list(.textRule)) { .all($0) },
        .with("json", .template) { .json($0) },
        .with("onlyFor", Parts.form(.required("purpose", \.purpose, .word), .required("text", \.rule, .textRule))) {
            .onlyFor($0.purpose, $0.rule)
        },
        .with(
            "joined", Parts.form(.required("of", \.rules, .list(.textRule)), .required("separator", \.text, .anyText))
        ) { .joined($0.rules, separator: $0.text) },
        .with("upTo", Parts.form(Parts.text, .required("in", \.rule, .textRule))) { .upTo($0.text, in: $0.rule) },
        .with(
            "replacing",
            Parts.form(Parts.text, .required("with", \.source, .textRule), .required("in", \.rule, .textRule))
        ) { .replacing($0.text, with: $0.source, in: $0.rule) },
        .with("from", Parts.form(.required("text", \.source, .textRule), .required("take", \.rule, .textRule))) {
            .from($0.source, take: $0.rule)
        },
    ]
}

/// The members of rules that have several.
private struct Parts: Sendable {
    var text = ""
    var rules: [TextRule] = []
    var rule: TextRule = ""
    var source: TextRule = ""
    var purpose = KeyPurpose.streaming

    static func form(_ members: Member<Parts>...) -> JSONForm<Parts> {
        ObjectForm(empty: Parts(), members: members).form
    }

    static var text: Member<Parts> { .required("text", \.text, .anyText) }
}

extension TextRule {
    fileprivate var written: JSONValue {
        switch self {
        case .keyURI(let part): .text(part.rawValue)
        case .request(let value): .text(value.rawValue)
        case .transformed(let transform, let rule): .object([transform.rawValue: rule.written])
        case .afterLast(let text): .object(["afterLast": .text(text)])
        case .query(let name): .object(["query": .text(name)])
        case .fixed(let text): .object(["fixed": .text(text)])
        case .setting(let name): .object(["setting": .text(name)])
        case .credential(let name): .object(["credential": .text(name)])
        case .template(let text): .object(["template": .text(text)])
        case .lookup(let name): .object(["lookup": .text(name)])
        case .session(let name): .object(["session": .text(name)])
        case .reply(let path): .object(["reply": .text(path)])
        case .firstOf(let rules): .object(["firstOf": .array(rules.map(\.written))])
        case .all(let rules): .object(["all": .array(rules.map(\.written))])
        case .json(let template): .object(["json": template.written])
        case .onlyFor(let purpose, let rule):
            .object(["onlyFor": .object(["purpose": .text(purpose.rawValue), "text": rule.written])])
        case .joined(let rules, let separator):
            .object(["joined": .object(["of": .array(rules.map(\.written)), "separator": .text(separator)])])
        case .upTo(let text, let rule): .object(["upTo": .object(["text": .text(text), "in": rule.written])])
        case .replacing(let text, let new, let rule):
            .object(["replacing": .object(["text": .text(text), "with": new.written, "in": rule.written])])
        case .from(let source, let rule): .object(["from": .object(["text": source.written, "take": rule.written])])
        }
    }
}

extension JSONForm<JSONTemplate> {
    static let template: JSONForm<JSONTemplate> = JSONForm(read: { JSONTemplate.read($0, $1, &$2) }, write: \.written)
}

extension JSONTemplate {
    fileprivate static func read(
        _ value: JSONValue, _ place: JSONPlace, _ problems: inout [JSONProblem]
    ) -> JSONTemplate? {
        switch value {
        case .object(let members):
            if members.count == 1, let (name, rule) = members.first, name == "$" || name == "$number" {
                let read = JSONForm<TextRule>.textRule.read(rule, place.member(name), &problems)
                return read.map(name == "$" ? Self.rule : Self.wholeNumber)
            }
            return JSONForm<[String: JSONTemplate]>.members(.anyText, .template).read(value, place, &problems).map(
                Self.object)
        case .array: return JSONForm<[JSONTemplate]>.list(.template).read(value, place, &problems).map(Self.array)
        case .text(let text): return .text(text)
        case .flag(let flag): return .bool(flag)
        case .number, .null:
            return JSONForm<Int>.whole(-(1 << 53)...(1 << 53)).read(value, place, &problems).map(Self.number)
        }
    }

    fileprivate var written: JSONValue {
        switch self {
        case .object(let members): .object(members.mapValues(\.written))
        case .array(let elements): .array(elements.map(\.written))
        case .rule(let rule): .object(["$": rule.written])
        case .wholeNumber(let rule): .object(["$number": rule.written])
        case .text(let text): .text(text)
        case .number(let number): .number(Double(number))
        case .bool(let bool): .flag(bool)
        }
    }
}
