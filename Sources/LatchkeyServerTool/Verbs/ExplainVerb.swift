import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyPolicy
import LatchkeyTerminal
import LatchkeyTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeyFiles
#endif

/// `latchkey-server explain`: why a server decided so, by the request's identifier.
struct ExplainVerb: Verb {
    private let server = Option("server", .text("URL"), "the operators' address; defaults to http://127.0.0.1:8445")
    private let tenant = Option("tenant", .text("NAME"), "whose request it has to be; defaults to any tenant's")
    private let request = Positional("REQUEST-ID", "the request's identifier", .none)
    private let key = Option(
        "key", .path("FILE"), "a file with an operator's key; defaults to latchkey-demo/admin-key.txt")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "explain", summary: "say why a server decided as it did",
            details: "The request's identifier stands in the refusal, in the reply's x-request-id and in the log.",
            positionals: [request],
            options: [server, tenant, key, Flag.json],
            examples: [
                "latchkey-server explain 7b0e6f6c-…",
                "latchkey-server explain 7b0e6f6c-… --server https://127.0.0.1:8445 --key admin-key.txt",
            ],
            yes: "it is told", no: "the server does not know the request, or cannot be asked")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let reply = try await fetch(arguments, console)
        let why = try Why(reply)
        if let tenant = arguments[tenant], why.tenant?.equalsByteForByte(tenant) != true {
            throw Diagnosis(
                code: "notExplained",
                reason:
                    "The request is not one of the tenant \(quoted(tenant))\(why.tenant.map { ", but of \(quoted($0))" } ?? "").",
                remedy: "Leave --tenant out, or name the tenant of the request.")
        }
        console.print(arguments[Flag.json] ? why.json : why.text)
        return .yes
    }

    private func fetch(_ arguments: Arguments, _ console: Console) async throws -> Data {
        let base = arguments[server] ?? "http://127.0.0.1:8445"
        guard let url = URL(string: base)?.appending(path: "admin/v1/requests/\(arguments[request])") else {
            throw UsageError("--server needs an address, not \(quoted(base)).")
        }
        let key = String(
            decoding: try InputFile.read(arguments[key] ?? "latchkey-demo/admin-key.txt", limit: 4_096, console),
            as: UTF8.self)
        var request = URLRequest(url: url)
        request.setValue(
            "Bearer \(key.trimmingCharacters(in: .whitespacesAndNewlines))", forHTTPHeaderField: "Authorization")
        let reply = try await SystemTransport().send(request, bodyLimit: 1 << 20)
        guard reply.status == 200 else {
            // The API says what is wrong and what to do; another program at this address does not.
            let told = JSONValue(reply.body)
            throw Diagnosis(
                code: "notExplained", reason: told?["reason"]?.text ?? "The server answered \(reply.status).",
                remedy: told?["remedy"]?.text ?? "Give the operators' address of the server as --server.")
        }
        return reply.body
    }
}

/// What the server knows of one request: a decision, or a refusal before a policy was asked.
private struct Why {
    let tenant: String?
    /// For people.
    let text: String
    /// The decision's record, or the refusal.
    let json: String

    /// - Parameter reply: the body of `GET /admin/v1/requests/{request}`.
    init(_ reply: Data) throws {
        let value = JSONValue(reply)
        tenant = value?["tenant"]?.text
        if let stated = value?["record"] {
            let record = try DecisionRecord(json: Data(stated.canonicalText.utf8))
            (text, json) = (record.explanation, String(decoding: record.canonicalJSON, as: UTF8.self))
            return
        }
        guard let refusal = value?["refusal"] else {
            throw Diagnosis(
                code: "notExplained", reason: "What the server answers is no explanation.",
                remedy: "Give the operators' address of a latchkey-server of this version.")
        }
        let code = refusal["code"]?.text ?? "refused"
        var lines = ["\(code.onOneLine), before a policy was asked"]
        for (name, member) in [
            ("Request", "requestId"), ("Tenant", "tenant"), ("Endpoint", "endpoint"), ("Reason", "reason"),
            ("Remedy", "remedy"),
        ] {
            guard let text = refusal[member]?.text else { continue }
            lines.append(name.padding(toLength: 10, withPad: " ", startingAt: 0) + text.onOneLine)
        }
        (text, json) = (lines.joined(separator: "\n"), refusal.canonicalText)
    }
}
