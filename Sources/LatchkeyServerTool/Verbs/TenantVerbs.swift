import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyLicensing
import LatchkeyServer
import LatchkeyStores
import LatchkeyTerminal
import LatchkeyVault

/// `latchkey-server tenant create`: a tenant's first data key and seed.
struct TenantCreateVerb: Verb {
    private let tenant = Positional("NAME", "a tenant of the configuration", .none)
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "tenant create",
            summary: "make the keys that seal and derive a tenant's keys",
            details: """
                Once for each new tenant, before a server starts with it; no start, check or reload makes them, so that lost ones are noticed. A
                second time changes nothing. It is in the audit.
                """,
            positionals: [tenant], options: [config],
            examples: ["latchkey-server tenant create acme --config server.json"],
            yes: "the tenant has its keys", no: "it has not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try await ConfigurationFile.read(arguments.required(config))
        let name = arguments[tenant]
        let (isNew, fingerprint) = try await KeySealing.create(name, in: file)
        console.print(isNew ? "The tenant “\(name)” has its keys." : "The tenant “\(name)” had its keys before.")
        if let fingerprint { console.print("The database's fingerprint is \(fingerprint).") }
        return .yes
    }
}

/// `latchkey-server tenant list`: which tenants have keys, in the configuration and in the store.
struct TenantListVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "tenant list", summary: "list the tenants, and which of them have keys",
            details: "Changes nothing. Names the database's fingerprint, for stores.fingerprint in the configuration.",
            options: [config], examples: ["latchkey-server tenant list --config server.json"],
            yes: "each tenant of the configuration has its keys", no: "one has none")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try await ConfigurationFile.read(arguments.required(config))
        let engines = try await ServerEngines.open(file, for: .checking)
        defer { engines.close() }
        let stored = Set(try await engines.keys.dataKeys().map(\.tenant))
        let configured = Set(file.settings.tenants.keys)
        for name in configured.union(stored).sorted() {
            let words =
                switch (configured.contains(name), stored.contains(name)) {
                case (true, true): "has keys"
                case (true, false): "has no keys: latchkey-server tenant create \(name) --config \(file.path)"
                case (false, _): "has keys, and is not in the configuration"
                }
            console.print("\(name.onOneLine): \(words)")
        }
        if let fingerprint = try await engines.keys.fingerprint() {
            console.print("The database's fingerprint is \(fingerprint).")
        }
        return configured.isSubset(of: stored) ? .yes : .no
    }
}
