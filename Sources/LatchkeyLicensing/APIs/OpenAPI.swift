package import LatchkeyForms

/// Writes an API's description.
///
/// Source: https://spec.openapis.org/oas/v3.1.0, 2026-11-27.
package enum OpenAPI {
    /// The whole description. A named schema is among its components, once.
    /// - Parameters:
    ///   - info: title, version, description.
    ///   - paths: the operations by path and method.
    ///   - components: all but schemas.
    ///   - more: further members.
    package static func document(
        _ info: [String: JSONValue], paths: [String: [String: JSONValue]], components: [String: JSONValue],
        _ more: [String: JSONValue] = [:]
    ) -> JSONValue {
        var schemas: [String: JSONValue] = [:]
        func collected(_ value: JSONValue) -> JSONValue {
            switch value {
            case .array(let values): return .array(values.map(collected))
            case .object(var members):
                members = members.mapValues(collected)
                guard case .text(let name)? = members["title"] else { return .object(members) }
                members["title"] = nil
                // The description stays at the reference.
                let said = members.removeValue(forKey: "description").map { ["description": $0] } ?? [:]
                schemas[name] = .object(members)
                return .object(["$ref": .text("#/components/schemas/\(name)")].merging(said) { one, _ in one })
            default: return value
            }
        }
        var members = more
        members["openapi"] = .text("3.1.0")
        members["info"] = .object(info)
        members["paths"] = .object(paths.mapValues { collected(.object($0)) })
        let others = components.mapValues(collected)
        members["components"] = .object(others.merging(["schemas": .object(schemas)]) { one, _ in one })
        return .object(members)
    }

    package static func reference(_ kind: String, _ name: String) -> JSONValue {
        .object(["$ref": .text("#/components/\(kind)/\(name)")])
    }

    /// A body, of a request or a reply, by media types.
    package static func content(_ types: [String: JSONSchema]) -> JSONValue {
        .object(types.mapValues { .object(["schema": $0.json]) })
    }

    package static func response(
        _ text: String, _ types: [String: JSONSchema], headers: [String: JSONValue] = [:]
    ) -> JSONValue {
        var members: [String: JSONValue] = ["description": .text(text)]
        members["content"] = types.isEmpty ? nil : content(types)
        members["headers"] = headers.isEmpty ? nil : .object(headers)
        return .object(members)
    }

    package static func body(_ type: String, _ schema: JSONSchema) -> JSONValue {
        .object(["required": .flag(true), "content": content([type: schema])])
    }

    /// A parameter of a path, a query or a header.
    package static func parameter(
        _ name: String, in place: String, _ schema: JSONSchema, _ text: String, isRequired: Bool = false
    ) -> JSONValue {
        var members: [String: JSONValue] = [
            "name": .text(name), "in": .text(place), "schema": schema.json, "description": .text(text),
        ]
        members["required"] = isRequired ? .flag(true) : nil
        return .object(members)
    }

    /// A header of an answer.
    package static func header(_ schema: JSONSchema, _ text: String) -> JSONValue {
        .object(["schema": schema.json, "description": .text(text)])
    }

    /// A bearer's token or key.
    package static func bearer(_ text: String) -> JSONValue {
        .object(["type": .text("http"), "scheme": .text("bearer"), "description": .text(text)])
    }

    /// A key or a session in a header or a cookie.
    package static func apiKey(_ name: String, in place: String, _ text: String) -> JSONValue {
        .object([
            "type": .text("apiKey"), "in": .text(place), "name": .text(name), "description": .text(text),
        ])
    }

    /// A request's alternative requirements, each a name of `securitySchemes` or several together.
    package static func security(_ choices: [[String]]) -> JSONValue {
        .array(choices.map { .object(Dictionary($0.map { ($0, JSONValue.array([])) }) { one, _ in one }) })
    }
}
