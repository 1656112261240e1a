import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyTerminal

/// `latchkey-server explain`: why a server decided as it did, by the request's identifier.
struct ExplainVerb: Verb {
    private let address = OperatorAddress(code: "notExplained")
    private let tenant = Option("tenant", .text("NAME"), "the request's tenant; defaults to any tenant")
    private let request = Positional("REQUEST-ID", "the request's identifier", .none)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "explain", summary: "explain a server's decision on a request",
            details: """
                The request's identifier is in the refusal, in the reply's x-request-id and in the log. The node searches
                its recent requests, then the record of licenses, which has the requests of all nodes.
                """,
            positionals: [request],
            options: [tenant] + address.options + [Flag.json],
            examples: [
                "latchkey-server explain 7b0e6f6c-…",
                "latchkey-server explain 7b0e6f6c-… --server https://127.0.0.1:8445 --key admin-key.txt",
            ],
            yes: "the explanation was printed",
            no: "neither the server nor the record has the request, or neither can be reached")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let why = try Why(await address.ask("GET", ["requests", arguments[request]], arguments, console))
        if let tenant = arguments[tenant], why.tenant?.equalsByteForByte(tenant) != true {
            throw Diagnosis(
                code: "notExplained",
                reason:
                    "The request does not belong to the tenant \(quoted(tenant))\(why.tenant.map { ", but to \(quoted($0))" } ?? "").",
                remedy: "Omit --tenant, or name the request's tenant.")
        }
        if !arguments[Flag.json], let source = why.source { console.note(source) }
        console.print(arguments[Flag.json] ? why.json : why.text)
        return .yes
    }
}

/// The answer about one request: a decision, a refusal before a policy was evaluated, or rows of the record.
private struct Why {
    let tenant: String?
    /// The source, if it is not the node that was asked.
    let source: String?
    /// For people.
    let text: String
    /// The decision's record, the refusal, or the newest row.
    let json: String

    /// - Parameter reply: the body of `GET /admin/v1/requests/{request}`.
    init(_ reply: Data) throws {
        let value = JSONValue(reply)
        tenant = value?["tenant"]?.text
        let node = value?["node"]?.text ?? "a node"
        source =
            value?["source"]?.text == "record"
            ? "From the record, as of \(value?["asOf"]?.text ?? "now"); the node \(node.onOneLine) answered the request."
            : nil
        if let stated = value?["record"] {
            let record = try DecisionRecord(json: Data(stated.canonicalText.utf8))
            (text, json) = (record.explanation, String(decoding: record.canonicalJSON, as: UTF8.self))
            return
        }
        if case .array(let rows)? = value?["rows"], let row = rows.first {
            let told = row["code"]?.text ?? row["event"]?.text ?? "a row"
            var lines = Self.lines("\(told.onOneLine), without its decision", of: row, Self.rowMembers)
            if rows.count > 1 { lines.append("The newest of \(rows.count.counted("row")) with this identifier.") }
            (text, json) = (lines.joined(separator: "\n"), row.canonicalText)
            return
        }
        guard let refusal = value?["refusal"] else {
            throw Diagnosis(
                code: "notExplained", reason: "The server's reply is not an explanation.",
                remedy: "Give the operators' address of a latchkey-server of this version.")
        }
        let code = refusal["code"]?.text ?? "refused"
        let lines = Self.lines(
            "\(code.onOneLine), before a policy was evaluated", of: refusal,
            [
                ("Request", "requestId"), ("Tenant", "tenant"), ("Endpoint", "endpoint"), ("Reason", "reason"),
                ("Remedy", "remedy"),
            ])
        (text, json) = (lines.joined(separator: "\n"), refusal.canonicalText)
    }

    private static let rowMembers = [
        ("Request", "requestId"), ("Time", "time"), ("Tenant", "tenant"), ("Account", "account"),
        ("Device", "device"), ("Country", "country"), ("Content", "content"), ("Key", "kid"), ("API", "api"),
        ("Policy", "policy"), ("Reason", "reason"),
    ]

    private static func lines(_ title: String, of value: JSONValue, _ members: [(String, String)]) -> [String] {
        [title]
            + members.compactMap { name, member in
                value[member]?.text.map { name.padding(toLength: 10, withPad: " ", startingAt: 0) + $0.onOneLine }
            }
    }
}
