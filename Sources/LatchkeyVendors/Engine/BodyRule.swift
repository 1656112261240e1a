import Foundation
import LatchkeyCore

/// How the body of a license request is encoded.
///
/// Source: `Documentation/Vendors/README.md` §0 and §23.5.
package enum BodyRule: Sendable, Hashable {
    /// The SPC unchanged, `application/octet-stream`.
    case raw
    /// The SPC in base64, `text/plain`.
    case base64Text
    /// Fields in this order, `application/x-www-form-urlencoded`. Names are percent-encoded, values as `Field.escaping` says.
    case form([Field])
    /// The same, followed by the key URI's query, unchanged.
    case formWithKeyURIQuery([Field])
    /// A JSON document, `application/json`.
    case json(JSONTemplate)
    /// Fields in this order, `multipart/form-data`.
    case multipart([Field])

    /// A field of a form. It is left out if its rule gives nothing.
    package struct Field: Sendable, Hashable {
        /// The field's name.
        package var name: String
        /// Where its value comes from.
        package var value: TextRule
        /// How its value is written in a form.
        package var escaping: Escaping

        /// Makes a field.
        package init(_ name: String, _ value: TextRule, escaping: Escaping = .percent) {
            self.name = name
            self.value = value
            self.escaping = escaping
        }
    }

    /// How the value of a form's field is written.
    package enum Escaping: String, Sendable, Hashable, CaseIterable {
        /// Percent-encoded, as the form's media type demands.
        case percent
        /// Unchanged, for a service that does not decode. The value must not contain a separator of fields.
        case none
    }
}

extension BodyRule {
    /// Separates the parts of a multipart body. It is constant because no base64 text or token contains it.
    static let boundary = "latchkey-form-boundary-7d3f2c"

    var contentType: String {
        switch self {
        case .raw: "application/octet-stream"
        case .base64Text: "text/plain"
        case .form, .formWithKeyURIQuery: "application/x-www-form-urlencoded"
        case .json: "application/json"
        case .multipart: "multipart/form-data; boundary=\(Self.boundary)"
        }
    }

    /// The fields of a form.
    var fields: [Field] {
        switch self {
        case .form(let fields), .formWithKeyURIQuery(let fields), .multipart(let fields): fields
        case .raw, .base64Text, .json: []
        }
    }

    /// All rules in it.
    package var rules: [TextRule] {
        switch self {
        case .raw, .base64Text: []
        case .form, .formWithKeyURIQuery, .multipart: fields.map(\.value)
        case .json(let template): template.rules
        }
    }

    /// The fields or members that it sends, each with the rules of its value.
    var members: [(name: String, rules: [TextRule])] {
        switch self {
        case .raw, .base64Text: []
        case .form, .formWithKeyURIQuery, .multipart: fields.map { ($0.name, [$0.value]) }
        case .json(let template): template.members
        }
    }

    func data(_ context: RuleContext) throws(IntegrationError) -> Data {
        switch self {
        case .raw: return context.spc?.bytes.revealed ?? Data()
        case .base64Text: return Data((context.text(.spc) ?? "").utf8)
        case .form(let fields): return Data(Self.encoded(fields, context).utf8)
        case .formWithKeyURIQuery(let fields):
            let parts = [Self.encoded(fields, context), context.keyURI?.query ?? ""].filter { !$0.isEmpty }
            return Data(parts.joined(separator: "&").utf8)
        case .json(let template): return try Self.json(template, context)
        case .multipart(let fields): return Self.multipart(fields, context)
        }
    }

    private static func json(_ template: JSONTemplate, _ context: RuleContext) throws(IntegrationError) -> Data {
        guard let rule = template.unfitNumber(context) else {
            return Data((template.text(context) ?? "{}").utf8)
        }
        let names = rule.names
        let name = (names.settings.sorted() + names.credentials.sorted()).first
        throw IntegrationError(
            .invalidRequest,
            "The value of \(name.map { "\"\($0)\"" } ?? "a number in the body") is not a whole number.",
            remedy: "Give it digits only.")
    }

    private static func encoded(_ fields: [Field], _ context: RuleContext) -> String {
        let written = fields.compactMap { field in
            context.text(field.value).map { value in
                "\(field.name.percentEncoded)=\(field.escaping == .percent ? value.percentEncoded : value)"
            }
        }
        return written.joined(separator: "&")
    }

    private static func multipart(_ fields: [Field], _ context: RuleContext) -> Data {
        var text = ""
        for field in fields {
            guard let value = context.text(field.value) else { continue }
            text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(field.name)\"\r\n\r\n\(value)\r\n"
        }
        return Data((text + "--\(boundary)--\r\n").utf8)
    }
}
