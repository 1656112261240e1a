import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeyTerminal

/// `latchkey-server demo`: a server from scratch.
struct DemoVerb: Verb {
    private let folder = Option(
        "folder", .path("DIR"), "the folder of credentials, secrets and the database; defaults to latchkey-demo")
    private let port = Option(
        "port", .port, "the port for players; packagers and operators get the next two; 0 chooses free ports")

    private let derivation = Option(
        "derivation", .path("LIB"),
        "a licensee's derivation, a shared library; without it, only test credentials are served")

    var printsSecrets: Bool { true }

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "demo", summary: "start a server with test credentials and a demo tenant",
            details: """
                Creates the folder on its first start: test credentials, secrets, a key set, a policy and a configuration. Sessions
                and keys go to a SQLite database in it. Then it serves until interrupted, as run --config DIR/server.json does, along
                with demo streams and a page that plays them in a browser.
                """,
            options: [folder, port, derivation, Flag.json],
            examples: ["latchkey-server demo", "latchkey-server demo --port 0 --json"],
            yes: "it ran until a signal stopped it", no: "it could not start")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let name = arguments[folder] ?? "latchkey-demo"
        let first = Int(arguments[port] ?? 8443)
        guard first <= Self.lastPort else {
            throw UsageError(
                "--port \(first) leaves no ports for packagers and operators.",
                hint: "Use at most \(Self.lastPort), or 0 for free ports.")
        }
        let ports = first == 0 ? [0, 0, 0] : (0..<3).map { first + $0 }
        let url = URL(filePath: name, directoryHint: .isDirectory).absoluteURL
        let demonstration = try await Demonstration.start(
            in: DemoFolder(url, ports: ports), derivation: arguments[derivation])
        try await demonstration.server.serve(
            signals: Interruption.handle, ready: { try show(demonstration, in: name, arguments, console) })
        return .yes
    }

    /// Packagers and operators get the next two.
    private static let lastPort = 65_533

    /// Prints where everything is; for people also the notices to operators.
    func show(
        _ demonstration: Demonstration, in folder: String, _ arguments: Arguments, _ console: Console
    ) throws {
        if arguments[Flag.json] {
            try console.printJSONLine(demonstration.sheet)
        } else {
            for notice in demonstration.server.current.notices { console.note(notice.text) }
            console.print(demonstration.sheet.text(folder: folder))
        }
    }
}
