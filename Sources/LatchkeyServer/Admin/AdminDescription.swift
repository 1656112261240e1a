import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing

extension AdminAPI {
    static let descriptionRoutes: [Route<Page>] = [
        Route([.get], "/admin/v1/openapi.json", Page(.viewer, .own) { _ in .admin(AdminDescription.document) })
    ]
}

/// The admin API as OpenAPI 3.1 describes it: what is written of each operation, with what the table of addresses says of it.
///
/// Source: https://spec.openapis.org/oas/v3.1.0, 2026-11-27.
package enum AdminDescription {
    /// What is written: summaries, parameters of queries, bodies and answers.
    static let written = JSONValue(PackageResources.adminAPI_json) ?? .null

    /// The whole description. It has the operations of the table, and no others.
    static let document: JSONValue = {
        var paths: [String: JSONValue] = [:]
        for route in AdminAPI.routes {
            let path = route.path.text
            var operations = paths[path]?.members ?? [:]
            for method in route.methods {
                let name = method.rawValue.lowercased()
                let operation = written["paths"]?[path]?[name]?.members ?? [:]
                operations[name] = described(operation, path, route.handler)
            }
            paths[path] = .object(operations)
        }
        var info = written["info"]?.members ?? [:]
        info["version"] = .text(LatchkeyVersion.text)
        let members = written.members.merging(["info": .object(info), "paths": .object(paths)]) { $1 }
        return .object(members)
    }()

    /// The description as a JSON text.
    package static var text: String { document.canonicalText }

    /// An operation with its role, scope, headers, parts of the path and refusals.
    private static func described(
        _ written: [String: JSONValue], _ path: String, _ page: AdminAPI.Page
    ) -> JSONValue {
        let isAudited = written["x-latchkey-audited"] == .flag(true)
        let parts = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        var operation = written
        operation["x-latchkey-role"] = .text(page.role.rawValue)
        operation["x-latchkey-scope"] = .text(page.scope.rawValue)
        operation["security"] = .array([.object(["key": .array([])]), .object(["session": .array([])])])
        let named = (parts + ["console"] + (isAudited ? ["dryRun"] : [])).map { reference("parameters", $0) }
        operation["parameters"] = .array(named + (written["parameters"]?.elements ?? []))
        var responses = written["responses"]?.members ?? [:]
        if isAudited, let done = responses["200"] { responses["200"] = orPreview(done) }
        for status in ["4XX", "5XX"] { responses[status] = reference("responses", "Refusal") }
        operation["responses"] = .object(responses)
        return .object(operation)
    }

    /// An answer that may be a preview instead.
    private static func orPreview(_ response: JSONValue) -> JSONValue {
        var content = response["content"]?.members ?? [:]
        let preview = reference("schemas", "Preview")
        let schema = content["application/json"]?["schema"].map { JSONValue.object(["anyOf": .array([$0, preview])]) }
        content["application/json"] = .object(["schema": schema ?? preview])
        return .object(response.members.merging(["content": .object(content)]) { $1 })
    }

    private static func reference(_ kind: String, _ name: String) -> JSONValue {
        .object(["$ref": .text("#/components/\(kind)/\(name)")])
    }
}

extension JSONValue {
    /// The members of an object; none for anything else.
    fileprivate var members: [String: JSONValue] {
        guard case .object(let members) = self else { return [:] }
        return members
    }

    fileprivate var elements: [JSONValue] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }
}
