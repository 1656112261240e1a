import Foundation
import LatchkeyCore
import LatchkeyTesting

@testable import LatchkeyForms

/// A description in OpenAPI, and what a server sent that it describes.
final class DescribedAPI: Sendable {
    struct Operation: Sendable, Hashable, CustomStringConvertible {
        let method, path: String
        var description: String { "\(method) \(path)" }
    }

    let document: JSONValue
    private let seen = Locked<(statuses: Set<String>, members: Set<String>)>(([], []))

    init(_ document: JSONValue) { self.document = document }

    private func members(_ value: JSONValue?) -> [String: JSONValue] {
        guard case .object(let members)? = value else { return [:] }
        return members
    }

    /// Every operation.
    var operations: Set<Operation> {
        Set(
            members(document["paths"]).flatMap { path, item in
                members(item).keys.map { Operation(method: $0.uppercased(), path: path) }
            })
    }

    private func responses(_ operation: Operation) -> [String: JSONValue] {
        members(document["paths"]?[operation.path]?[operation.method.lowercased()]?["responses"])
    }

    /// Every status of every operation.
    var statuses: Set<String> {
        Set(operations.flatMap { operation in responses(operation).keys.map { "\(operation) \($0)" } })
    }

    /// Every member of what operations answer, by its place: `Slot.lease`.
    var members: Set<String> { Set(["Slot", "Heartbeat", "Error"].flatMap { members(of: schema($0), at: $0) }) }

    private func members(of schema: JSONValue?, at place: String) -> [String] {
        let inner = members(schema?["properties"]).flatMap { name, value in
            ["\(place).\(name)"] + members(of: resolved(value), at: "\(place).\(name)")
        }
        return inner + (schema?["items"].map { members(of: resolved($0), at: place + "[]") } ?? [])
    }

    private func schema(_ name: String) -> JSONValue? { document["components"]?["schemas"]?[name] }

    private func resolved(_ schema: JSONValue?) -> JSONValue? {
        schema?["$ref"]?.text.flatMap { $0.split(separator: "/").last }.map { self.schema(String($0)) } ?? schema
    }

    /// Notes a reply.
    /// - Returns: what of it is not described.
    func problems(_ operation: Operation, _ status: Int, _ body: JSONValue?) -> [String] {
        let place = "\(operation) \(status)"
        guard let response = responses(operation)["\(status)"] else { return ["\(place): the status is not described"] }
        seen.withLock { _ = $0.statuses.insert(place) }
        let schema = response["content"]?["application/json"]?["schema"]
        guard schema != nil || body == nil else { return ["\(place): a body is not described"] }
        let name = schema?["$ref"]?.text?.split(separator: "/").last.map(String.init) ?? ""
        return problems(body ?? .null, resolved(schema), name).map { "\(place): \($0)" }
    }

    private func problems(_ value: JSONValue, _ schema: JSONValue?, _ place: String) -> [String] {
        guard let schema = resolved(schema) else { return [] }
        switch (value, schema["type"]?.text) {
        case (.object(let values), "object"?):
            guard schema["properties"] != nil else { return [] }
            let known = members(schema["properties"])
            seen.withLock { $0.members.formUnion(values.keys.map { "\(place).\($0)" }) }
            let missing = (schema["required"]?.texts ?? []).filter { values[$0] == nil }
            return missing.map { "\(place).\($0) is missing" }
                + values.flatMap { name, value in
                    known[name].map { problems(value, $0, "\(place).\(name)") } ?? ["\(place).\(name) is not described"]
                }
        case (.array(let values), "array"?):
            return values.flatMap { problems($0, schema["items"], place + "[]") }
        case (.text(let text), "string"?):
            return schema["enum"]?.texts?.contains(text) == false ? ["\(place) has the word \(text)"] : []
        case (.number(let number), "integer"?): return number == number.rounded() ? [] : ["\(place) is no integer"]
        default: return ["\(place) has another type"]
        }
    }

    /// What is described, and was not seen.
    var unseen: [String] {
        let seen = seen.withLock { $0 }
        return statuses.subtracting(seen.statuses).sorted() + members.subtracting(seen.members).sorted()
    }
}
