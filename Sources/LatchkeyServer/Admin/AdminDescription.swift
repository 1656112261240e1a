import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing

extension AdminAPI {
    static let descriptionRoutes: [Route<Page>] = [
        .page(.get, "/openapi.json", .viewer, "This description", .json(.object)) { _ in
            .admin(AdminDescription.document)
        }
    ]
}

/// The admin API in OpenAPI 3.1, made of its table of addresses: it has their operations, and no others.
package enum AdminDescription {
    static let document: JSONValue = {
        var paths: [String: [String: JSONValue]] = [:]
        for route in AdminAPI.routes {
            for method in route.methods {
                let name = method.rawValue.lowercased()
                paths[route.path.text, default: [:]][name] = operation(name, route.path.text, route.handler)
            }
        }
        return OpenAPI.document(
            [
                "title": .text("Latchkey admin API"), "version": .text(LatchkeyVersion.text),
                "description": .text(introduction),
            ], paths: paths,
            components: [
                "parameters": .object(parameters),
                "responses": .object([
                    "Refusal": OpenAPI.response("Nothing was done.", ["application/json": AdminRefusal.schema])
                ]),
                "securitySchemes": .object([
                    "key": OpenAPI.bearer("An operator's key."),
                    "session": OpenAPI.apiKey(
                        "__Host-latchkey-session", in: "cookie",
                        "The session of an OpenID Connect sign-in; with the header \(SignOn.header.rawValue)."),
                ]),
            ])
    }()

    private static let introduction = """
        Everything that operators can see and change. Each operation names its minimum role in `x-latchkey-role` and its scope in \
        `x-latchkey-scope`: `tenant` is the tenant in the path, and operators of other tenants get 404; `own` shows the operator's own data; \
        `server` is for operators of all tenants. Roles, lowest first: \
        \(AdminRole.allCases.map(\.rawValue).joined(separator: ", ")). \
        An operation with `x-latchkey-audited` is recorded in the audit before it runs.
        """

    /// The description as a JSON text.
    package static var text: String { document.canonicalText }

    private static let parameters: [String: JSONValue] = {
        let parts = [
            "tenant": "A tenant's name.", "kid": "A key's identifier, a UUID.", "request": "A request's identifier.",
            "policy": "A policy's name.",
        ]
        var parameters: [String: JSONValue] = [:]
        for (name, text) in parts {
            parameters[name] = OpenAPI.parameter(name, in: "path", .text, text, isRequired: true)
        }
        parameters["dryRun"] = OpenAPI.parameter(
            AdminCall.dryRun.rawValue, in: "header", .text,
            "With any value, nothing changes, and the reply is the entry that the audit would record.")
        parameters["console"] = OpenAPI.parameter(
            SignOn.header.rawValue, in: "header", .text,
            "Any value; required of every operator without a key, because a page of another origin cannot send it.")
        return parameters
    }()

    private static func operation(_ method: String, _ path: String, _ page: AdminAPI.Page) -> JSONValue {
        let parts = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        let words = path.dropFirst("/admin/v1".count).split { !$0.isLetter }
        let named = (parts + ["console"] + (page.isAudited ? ["dryRun"] : []))
            .map { OpenAPI.reference("parameters", $0) }
        var responses: [String: JSONValue] = [:]
        for status in ["4XX", "5XX"] { responses[status] = OpenAPI.reference("responses", "Refusal") }
        for (status, answer) in page.answers.statuses {
            var types = answer.types
            if page.isAudited, status == 200 {
                let preview = AdminRefusal.previewSchema
                types["application/json"] = types["application/json"].map { .anyOf([$0, preview]) } ?? preview
            }
            responses["\(status)"] = OpenAPI.response(answer.text, types)
        }
        var members: [String: JSONValue] = [
            "summary": .text(page.summary),
            "operationId": .text(method + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()),
            "x-latchkey-role": .text(page.role.rawValue), "x-latchkey-scope": .text(page.scope.rawValue),
            "security": OpenAPI.security([["key"], ["session"]]),
            "parameters": .array(named + page.query.map(\.json)), "responses": .object(responses),
        ]
        members["x-latchkey-audited"] = page.isAudited ? .flag(true) : nil
        members["requestBody"] = page.body
        return .object(members)
    }
}

/// The answers of an address, except refusals.
struct AdminAnswers: Sendable {
    fileprivate var statuses: [Int: (text: String, types: [String: JSONSchema])]

    static func json(_ schema: JSONSchema, _ text: String = "The answer.") -> Self {
        Self(statuses: [200: (text, ["application/json": schema])])
    }

    /// A change that is in force on all nodes, or on this one alone.
    static func done(_ members: [String: JSONSchema], _ text: String) -> Self {
        let stored = members.merging(["stored": .always(.flag(false))]) { one, _ in one }
        let schema = ["application/json": JSONSchema.object(stored, required: Array(members.keys))]
        let alone = "In force on this node only until the store responds again: `stored` is false."
        return Self(statuses: [200: (text, schema), 202: (alone, schema)])
    }

    static func file(_ type: String, _ text: String) -> Self { Self(statuses: [200: (text, [type: .text])]) }

    /// The answer, which may be a file of comma-separated values, too.
    var orCSV: Self {
        var answers = self
        answers.statuses[200]?.types["text/csv"] = .text
        return answers
    }

    func or(_ status: Int, _ schema: JSONSchema, _ text: String) -> Self {
        var answers = self
        answers.statuses[status] = (text, ["application/json": schema])
        return answers
    }
}

extension JSONValue {
    /// The body that `AdminCall.members` reads.
    static func body(of names: String...) -> JSONValue {
        let texts = Dictionary(names.map { ($0, JSONSchema.text) }) { one, _ in one }
        let members = JSONSchema.object(texts, required: names)
        return OpenAPI.body("application/json", members.with(["additionalProperties": .flag(true)]))
    }
}

/// A member of an address's query.
struct AdminQuery: Sendable {
    fileprivate let json: JSONValue

    init(_ name: String, _ text: String, _ schema: JSONSchema = .text, isRequired: Bool = false) {
        json = OpenAPI.parameter(name, in: "query", schema, text, isRequired: isRequired)
    }

    static let tenant = Self("tenant", "Only entries of this tenant.")
    static let before = Self("before", "Only entries before this number.", .count)
    static let after = Self("after", "The `next` of the previous page.")
    static let limit = Self(
        "limit", "The maximum number of rows, 1 to \(AdminCall.mostRows).",
        .whole.with([
            "minimum": .number(1), "maximum": .number(AdminCall.mostRows), "default": .number(AdminCall.usualRows),
        ]))
}
