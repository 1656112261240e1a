import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServer
import LatchkeyTerminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `latchkey-server explain`: why a server decided so, by the request's identifier.
struct ExplainVerb: Verb {
    private let server = Option("server", .text("URL"), "the operators' address; defaults to http://127.0.0.1:8445")
    private let tenant = Option("tenant", .text("NAME"), "the tenant; defaults to demo")
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
                "latchkey-server explain 7b0e6f6c-… --tenant acme --key admin-key.txt",
            ],
            yes: "it is told", no: "the server does not know the request, or cannot be asked")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let record = try DecisionRecord(json: try await fetch(arguments, console))
        if arguments[Flag.json] {
            console.print(String(decoding: record.canonicalJSON, as: UTF8.self))
        } else {
            console.print(record.explanation)
        }
        return .yes
    }

    private func fetch(_ arguments: Arguments, _ console: Console) async throws -> Data {
        let base = arguments[server] ?? "http://127.0.0.1:8445"
        let id = arguments[request]
        let path = "admin/v1/tenants/\(arguments[tenant] ?? "demo")/decisions/\(id)"
        guard let url = URL(string: base)?.appending(path: path) else {
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
            throw Diagnosis(
                code: "notExplained", reason: "The server answered \(reply.status).",
                remedy: reply.status == 404
                    ? "Ask the node that answered the request; each keeps its last 10,000 decisions."
                    : "Check the operator's key.")
        }
        return reply.body
    }
}
