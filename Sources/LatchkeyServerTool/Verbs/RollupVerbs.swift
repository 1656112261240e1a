import Foundation
import LatchkeyCore
import LatchkeyLicensing
import LatchkeyServer
import LatchkeyStores
import LatchkeyTerminal
import LatchkeyVault

/// The options that the verbs about roll-ups share.
private enum RollupOptions {
    static let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)
    static let owner = Option(
        "owner", .path("FILE"), "a file with the database's address for the role that owns the tables")

    /// The roll-ups of the configuration's record.
    static func rollups(_ arguments: Arguments) async throws -> RecordRollups {
        let file = try await ConfigurationFile.read(arguments.required(config))
        let own = file.settings.record.flatMap { try? StoreAddress($0.destination) }
        guard case .postgresql(let address)? = try arguments[owner].map(file.ownerAddress(inFile:)) ?? own else {
            throw Diagnosis(
                code: "rollupsNone", reason: "The configuration's record has no roll-ups.",
                remedy: "Only a record in PostgreSQL has them: set record.destination to postgresql://….")
        }
        return try RecordRollups(address)
    }
}

/// `latchkey-server rollups rebuild`: counts the record's rows again.
struct RollupsRebuildVerb: Verb {
    private let from = Option(
        "from", .text("DAY"), "the first day, such as 2026-11-01; without --from and --to: all days that roll-ups lack")
    private let to = Option("to", .text("DAY"), "the last day")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "rollups rebuild", summary: "rebuild the record's roll-ups from its rows",
            details: """
                Run it once after `migrate` has added roll-ups to a database with rows. Nodes keep running; while a part is counted, rows of the same
                day wait in the nodes' spools. Days whose rows were dropped keep their roll-ups. If it is interrupted, run it again.
                """,
            options: [RollupOptions.config, RollupOptions.owner, from, to],
            examples: [
                "latchkey-server rollups rebuild --config server.json",
                "latchkey-server rollups rebuild --config server.json --owner owner-address.txt --from 2026-11-01 --to 2026-11-30",
            ],
            yes: "the roll-ups match the rows", no: "they do not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        var times: Range<Int64>?
        if arguments[from] != nil || arguments[to] != nil {
            let days = try RecordRange.times(
                from: arguments.required(from), to: arguments.required(to), last: "", at: Date())
            guard [days.lowerBound, days.upperBound].allSatisfy({ $0 % 86_400_000 == 0 }) else {
                throw UsageError("--from and --to are days, such as 2026-11-01.")
            }
            times = days
        }
        let rollups = try await RollupOptions.rollups(arguments)
        defer { rollups.close() }
        let count = try await rollups.rebuild(times) { console.print("Rebuilt from \(RecordRange.text($0)).") }
        console.print(count == 0 ? "No rows need to be counted." : "The roll-ups match the rows.")
        return .yes
    }
}

/// `latchkey-server rollups keep`: how long roll-ups stay.
struct RollupsKeepVerb: Verb {
    private let days = Option("days", .count, "the number of days, including today", .required)

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "rollups keep", summary: "set how many days of roll-ups stay",
            details: """
                Nodes drop older roll-ups within a day. Without this verb they stay for 1,100 days. The rows have their own limit: record.days of
                the configuration, and `migrate`.
                """,
            options: [RollupOptions.config, RollupOptions.owner, days],
            examples: ["latchkey-server rollups keep --config server.json --owner owner-address.txt --days 3660"],
            yes: "the number is set", no: "it is not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let count = try arguments.required(days)
        guard count > 0 else { throw UsageError("--days is at least 1.") }
        let rollups = try await RollupOptions.rollups(arguments)
        defer { rollups.close() }
        try await rollups.keep(days: count)
        console.print("Roll-ups stay for \(count.counted("day")).")
        return .yes
    }
}
