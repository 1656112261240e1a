import Foundation
import LatchkeyServer
import Testing

@testable import LatchkeyServerTool
@testable import LatchkeyStores
@testable import StoreProcesses
@testable import TestServers

/// An engine's fault under a running server: a row of the table in `Documentation/Server/Outages.md`, which lists the reports of everything
/// that watches engines.
struct Mishap: Sendable, CustomTestStringConvertible {
    typealias Step = @Sendable (CheckStage) async throws -> Void

    let engine: String
    /// The mishap's name on the page.
    let name: String
    /// The status of a license for a key that the node knows, as long as it lasts.
    let license: Int
    /// Makes the configuration and the engines. The node starts after it.
    let stage: @Sendable () async throws -> CheckStage
    let make: Step
    let undo: Step
    /// Log lines that a node may write while the mishap is being made; empty for none.
    var passing: [String] = []
    /// Whether only the server's work of each half minute, or of each hour, finds it.
    var takesHalfMinutes = false
    /// The other expectations as long as it lasts.
    let proof: @Sendable (CheckStage, TestServer) async throws -> Void

    init(
        _ engine: String, _ name: String, license: Int = 200, stage: @escaping @Sendable () async throws -> CheckStage,
        make: @escaping Step, undo: @escaping Step,
        proof: @escaping @Sendable (CheckStage, TestServer) async throws -> Void = { _, _ in }
    ) {
        (self.engine, self.name, self.license, self.stage) = (engine, name, license, stage)
        (self.make, self.undo, self.proof) = (make, undo, proof)
    }

    var testDescription: String { "\(engine): \(name)" }

    static let all = ofPostgreSQL + ofRedis + ofSQLite
    /// These need another program, or root.
    static let others = ofPoolers + ofDisks
}

extension Mishap {
    /// Databases change names one after the other: a node that asks in between finds none, and finds one again.
    func passing(_ words: String...) -> Mishap {
        var mishap = self
        mishap.passing = words
        return mishap
    }

    var withinHalfMinutes: Mishap {
        var mishap = self
        mishap.takesHalfMinutes = true
        return mishap
    }

    /// Another program's lock of the file is not an outage: SQLite is a part of this process, and a late answer there means overload.
    static let ofSQLite = [
        Mishap(
            "SQLite", "another program holds the file's lock for writes", license: 503,
            stage: {
                let stage = try await CheckStage()
                let file: JSONValue = "sqlite:latchkey.db"
                try stage.folder.edit([
                    "stores": ["sessions": file, "keys": file, "audit": file, "sessionMilliseconds": 200]
                ])
                return stage
            },
            make: { stage in
                let path = stage.folder.file("latchkey.db").path
                let connection = try SQLiteConnection(path: path, busy: .seconds(60))
                try connection.execute("BEGIN IMMEDIATE")
                stage.keep(connection)
            },
            undo: { $0.letGo() })
    ]
}
