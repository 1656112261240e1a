import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyTerminal
import LatchkeyTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeySystem
#endif

/// How a verb asks the admin API of a running server.
struct OperatorAddress: Sendable {
    private let server = Option("server", .text("URL"), "the operators' address; defaults to http://127.0.0.1:8445")
    private let key = Option(
        "key", .path("FILE"), "a file with an operator's key; defaults to latchkey-demo/admin-key.txt")
    /// The code of failures for which the API gives none.
    let code: String

    var options: [any Parameter] { [server, key] }

    /// Asks.
    /// - Parameters:
    ///   - method: the HTTP method.
    ///   - parts: the path below `/admin/v1`, in its parts.
    ///   - query: names and values; empty values are left out. Defaults to none.
    ///   - body: the body. Defaults to none.
    ///   - limit: how many bytes of the answer are taken. Defaults to 1 MiB.
    /// - Throws: `Diagnosis` with the API's reason.
    func ask(
        _ method: String, _ parts: [String], query: [(String, String)] = [], body: JSONValue? = nil,
        limit: Int = 1 << 20, _ arguments: Arguments,
        _ console: Console
    ) async throws -> Data {
        let base = arguments[server] ?? "http://127.0.0.1:8445"
        let below = parts.reduce(URL(string: base)?.appending(path: "admin/v1")) {
            // A name may have a slash.
            $0?.appending(component: $1)
        }
        let given = query.filter { !$0.1.isEmpty }
        guard
            let url = given.isEmpty
                ? below : below?.appending(queryItems: given.map { URLQueryItem(name: $0, value: $1) })
        else { throw UsageError("--server needs a URL, not \(quoted(base)).") }
        let key = String(
            decoding: try InputFile.read(arguments[key] ?? "latchkey-demo/admin-key.txt", limit: 4_096, console),
            as: UTF8.self)
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.canonicalText.utf8) }
        request.timeoutInterval = 120
        request.setValue(
            "Bearer \(key.trimmingCharacters(in: .whitespacesAndNewlines))", forHTTPHeaderField: "Authorization")
        let reply = try await SystemTransport().send(request, bodyLimit: limit)
        guard [200, 202].contains(reply.status) else {
            // The API says what is wrong and what to do; another program at this address does not.
            let told = JSONValue(reply.body)
            throw Diagnosis(
                code: told?["code"]?.text ?? code,
                reason: told?["reason"]?.text ?? "The server answered \(reply.status).",
                remedy: told?["remedy"]?.text ?? "Give the operators' address of the server as --server.")
        }
        return reply.body
    }
}
