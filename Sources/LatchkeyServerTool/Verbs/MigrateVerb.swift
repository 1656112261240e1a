import Foundation
import LatchkeyLicensing
import LatchkeyServer
import LatchkeyStores
import LatchkeyTerminal

/// `latchkey-server migrate`: the tables of a configuration's databases.
struct MigrateVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)
    private let owner = Option(
        "owner", .path("FILE"), "a file with the database's address for the role that owns the tables")
    private let role = Option("grant", .text("ROLE"), "the servers' role, which gets the rights that servers need")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "migrate",
            summary: "create or expand the tables of a PostgreSQL database",
            details: """
                Run it before the first start and before each new version. Running it again changes nothing, and nodes of the previous
                version keep working. With --owner, servers need not own the tables: --grant lets their role read and write, but not
                change the audit or delete keys; a key that an operator replaces or removes is set aside. Servers may drop days of the
                record older than the record.days of this configuration, and no others; without record.days they may drop none.
                SQLite needs no migration.
                """,
            options: [config, owner, role],
            examples: [
                "latchkey-server migrate --config server.json",
                "latchkey-server migrate --config server.json --owner owner-address.txt --grant latchkey_node",
            ],
            yes: "the tables exist", no: "they do not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let file = try await ConfigurationFile.read(arguments.required(config))
        let settings = file.settings
        let stores = settings.stores
        var addresses = try Set([stores.sessions, stores.keys, stores.audit].map { try StoreAddress($0) })
        // The record may go elsewhere, also where no store is.
        if let record = settings.record.flatMap({ try? StoreAddress($0.destination) }) { addresses.insert(record) }
        let databases = addresses.filter(\.isDatabase)
        let owned = try arguments[owner].map(file.ownerAddress(inFile:))
        let retention = settings.record.map { $0.days.map(RecordRetention.days) ?? .all } ?? .asBefore
        var fingerprints: [String] = []
        for address in databases {
            if let fingerprint = try await Stores.migrate(
                owned ?? address, granting: arguments[role], keeping: retention)
            {
                fingerprints.append("\(fingerprint)")
            }
        }
        console.print(databases.isEmpty ? "No store of this configuration needs tables." : "The tables exist.")
        for one in Set(fingerprints).sorted() { console.print("The database's fingerprint is \(one).") }
        return .yes
    }

}
