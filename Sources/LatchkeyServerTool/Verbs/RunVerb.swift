import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeyStores
import LatchkeyTerminal

/// `latchkey-server run`: the server of a configuration.
struct RunVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)
    private let derivation = Option(
        "derivation", .path("LIB"), "a licensee's derivation, a shared library, in place of the configuration's")
    private let check = Flag("check", "check everything that the file names, and do not serve")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "run", summary: "serve what a configuration says",
            details: """
                --check reads credentials, TLS certificates, policies with their examples, key sets and secrets, and opens the stores; it
                tells all that is wrong at once, and changes nothing. A new tenant gets its keys by tenant create before. A hang-up signal reads the configuration again; what is wrong leaves the old one in force.
                An interrupt or terminate signal drains: /readyz says no, then connections are refused, then open requests finish.
                """,
            options: [config, derivation, check],
            examples: [
                "latchkey-server run --config /etc/latchkey/server.json",
                "latchkey-server run --config server.json --check",
            ],
            yes: "with --check all is right; otherwise it served until a signal stopped it",
            no: "something is wrong, each thing on a line")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try await ConfigurationFile.read(arguments.required(config), derivation: arguments[derivation])
        if arguments[check] { return try await Self.check(file, console) }
        let server = try await LicenseServer.start(file)
        return await server.serve { server.announce() }
    }

    private static func check(_ file: ConfigurationFile, _ console: Console) async throws -> ExitStatus {
        let engines = try await ServerEngines.open(file, for: .checking)
        defer { engines.close() }
        let state = try await ServerShared.read(file, engines, LineWriter { _ in }).builder(file).state()
        await state.loadKeySets()
        state.retire()
        OpenFileLimit.raise()
        if let notice = OpenFileLimit.notice { console.note(notice) }
        for notice in state.keySetNotices + state.notices { console.note(notice) }
        console.print(
            "All is right: \(state.tenants.count.counted("tenant")), \(state.policies.names.count.counted("policy", "policies")), "
                + "\(state.licensee.module.credentials.count.counted("certificate")).")
        return .yes
    }
}
