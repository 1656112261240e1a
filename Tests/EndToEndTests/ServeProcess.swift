import Foundation
import Latchkey
import LatchkeyCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `latchkey serve` as a process.
struct ServeProcess: Sendable {
    let process: ServingProcess
    /// Its introduction.
    let sheet: Sheet

    /// Starts it and waits until it prints its address.
    /// - Parameter ignored: a signal that the starting process makes it ignore, as `nohup` does: `HUP`.
    init(ignoring ignored: String? = nil, _ arguments: String...) async throws {
        let tool = ToolProcess.path ?? ""
        let shell = ["-c", "trap '' \(ignored ?? "")\nexec \"$0\" serve --json \"$@\"", tool]
        process =
            try await ignored == nil
            ? ServingProcess(program: tool, ["serve", "--json"] + arguments)
            : ServingProcess(program: "/bin/sh", shell + arguments)
        sheet = (try? JSONDecoder().decode(Sheet.self, from: process.line)) ?? Sheet(address: "", services: [])
    }

    /// The parts of its `--json` output that tests use.
    struct Sheet: Decodable {
        struct Service: Decodable {
            let service, profile: String
            let settings: [String: String]
            let tokens, play: String?
        }

        let address: String
        let services: [Service]
    }

    /// Its address.
    var address: String { sheet.address }

    /// The `--set` values of a service, as the tool prints them.
    func settings(of service: String) -> [String] {
        guard let service = sheet.services.first(where: { $0.service == service }) else { return [] }
        let settings =
            service.settings.map { "\($0.key)=\($0.value)" } + (service.tokens.map { ["token=@\($0)"] } ?? [])
        return settings.flatMap { ["--set", $0] }
    }

    /// A new token of a service.
    func token(of service: String) async throws -> String {
        let address = sheet.services.first { $0.service == service }?.tokens ?? ""
        guard let url = URL(string: address) else { throw URLError(.badURL) }
        let reply = try await SystemTransport().send(URLRequest(url: url), bodyLimit: 1 << 20)
        return String(decoding: reply.body, as: UTF8.self)
    }

    /// Sends a signal and waits for the end.
    func end(by signal: Int32) async -> Int32 { await process.end(by: signal) }
}
