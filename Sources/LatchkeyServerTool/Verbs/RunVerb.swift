import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeySystem
import LatchkeyTerminal

/// `latchkey-server run`: the server of a configuration.
struct RunVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)
    private let derivation = Option(
        "derivation", .path("LIB"), "a licensee's derivation, a shared library, instead of the configuration's")
    private let check = Flag("check", "check everything that the file names, without serving")
    private let user = Option(
        "user", .text("NAME"),
        "with --check: the service's user, by name or number, whose access to files is checked; needs root")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "run", summary: "run the server of a configuration",
            details: """
                --check reads credentials, TLS certificates, policies with their examples, key sets and secrets; tests the stores, the
                key sets at addresses and the callouts; and checks the ports. It reports every fault in one run, each with a remedy,
                and writes nothing. Dangerous defaults are reported as warnings. Create a new tenant's keys first, with tenant create.
                A hang-up signal reloads the configuration; if it has faults, the old one stays in force.
                An interrupt or terminate signal drains: /readyz fails, then new connections are refused, then open requests finish.
                """,
            options: [config, derivation, check, user],
            examples: [
                "latchkey-server run --config /etc/latchkey/server.json",
                "latchkey-server run --config server.json --check",
                "latchkey-server run --config server.json --check --user latchkey",
            ],
            yes: "with --check, no faults; otherwise it ran until a signal stopped it",
            no: "faults, one per line, each with a remedy")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        if arguments[check] {
            if let name = arguments[user] { try ProcessUser.become(name) }
            return try await Self.check(arguments.required(config), arguments[derivation], console)
        }
        guard arguments[user] == nil else { throw UsageError("--user needs --check.") }
        let file = try await ConfigurationFile.read(arguments.required(config), derivation: arguments[derivation])
        let server = try await LicenseServer(file)
        await server.serve(signals: Interruption.handle, ready: { server.announce() })
        return .yes
    }

    private static func check(_ path: String, _ derivation: String?, _ console: Console) async throws -> ExitStatus {
        let check = try await ServerCheck(path, derivation: derivation)
        OpenFileLimit.raise()
        for notice in [OpenFileLimit.notice].compactMap(\.self) + check.notices { console.note(notice) }
        let lines = check.problems.lines
        guard !lines.isEmpty else {
            console.print("No faults: \(check.summary).")
            return .yes
        }
        for line in lines { console.note(line) }
        console.note("\(lines.count.counted("fault")). Nothing was written.")
        return .no
    }
}
