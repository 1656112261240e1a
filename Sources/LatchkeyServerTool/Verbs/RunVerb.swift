import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeySystem
import LatchkeyTerminal

/// `latchkey-server run`: the server of a configuration.
struct RunVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)
    private let derivation = Option(
        "derivation", .path("LIB"), "a licensee's derivation, a shared library, in place of the configuration's")
    private let check = Flag("check", "check everything that the file names, and do not serve")
    private let user = Option(
        "user", .text("NAME"),
        "with --check: the service's user, or its number, as whom files are looked at; needs root")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "run", summary: "serve what a configuration says",
            details: """
                --check reads credentials, TLS certificates, policies with their examples, key sets and secrets, asks the stores, the key sets
                at addresses and the callouts whether they can be used, and looks at the ports. It tells all that is wrong at once, each thing
                with what to do, and writes nothing. Dangerous defaults are told and stop nothing. A new tenant gets its keys by tenant create before.
                A hang-up signal reads the configuration again; what is wrong leaves the old one in force.
                An interrupt or terminate signal drains: /readyz says no, then connections are refused, then open requests finish.
                """,
            options: [config, derivation, check, user],
            examples: [
                "latchkey-server run --config /etc/latchkey/server.json",
                "latchkey-server run --config server.json --check",
                "latchkey-server run --config server.json --check --user latchkey",
            ],
            yes: "with --check all is right; otherwise it served until a signal stopped it",
            no: "something is wrong, each thing on a line with what to do")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        if arguments[check] {
            if let name = arguments[user] { try ProcessUser.become(name) }
            return try await Self.check(arguments.required(config), arguments[derivation], console)
        }
        guard arguments[user] == nil else { throw UsageError("--user is for --check.") }
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
            console.print("All is right: \(check.summary).")
            return .yes
        }
        for line in lines { console.note(line) }
        console.note("\(lines.count.counted("fault")). Nothing was written.")
        return .no
    }
}
