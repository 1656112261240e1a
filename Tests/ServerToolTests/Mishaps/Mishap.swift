import Foundation
import LatchkeyCore
import LatchkeyTransport
import Testing

@testable import LatchkeyServer
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
    /// PostgreSQL's limits. Defaults to patient ones, because one late answer is an outage.
    var limits = PostgreSQLStore.Settings.patient
    /// Log lines that a node may write while the mishap is being made; empty for none.
    var passing: [String] = []
    /// Other work that finds it, besides licenses and the looks of each second. Defaults to none.
    var work: @Sendable (CheckStage, TestServer) async throws -> Void = { _, _ in }
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

    static let all = ofPostgreSQL + ofRedis + ofSQLite + ofProvider
    /// These need another program, or root.
    static let others = ofPoolers + ofDisks
}

extension Mishap {
    /// An engine restarts, ends connections, or changes its name: a node that asks in between finds none, and finds one again.
    func passing(_ words: [String]) -> Mishap {
        var mishap = self
        mishap.passing = words
        return mishap
    }

    func found(by work: @escaping @Sendable (CheckStage, TestServer) async throws -> Void) -> Mishap {
        var mishap = self
        mishap.work = work
        return mishap
    }

    /// With a node's usual limits, because they end its work, or because it listens for as long.
    var withUsualLimits: Mishap {
        var mishap = self
        mishap.limits = PostgreSQLStore.Settings()
        return mishap
    }

    /// The server's work of each half minute, or of each hour, finds it.
    var withinHalfMinutes: Mishap {
        found { _, node in
            await node.server.apply(.everything)
            _ = await node.server.shared.record?.shipper.keepDays()
        }
    }

    /// Sign-ins find it.
    static let ofProvider = [
        Mishap(
            "OpenID provider", "its token endpoint fails",
            stage: {
                let stage = try await CheckStage()
                let provider = try StandInProvider(time: SystemTimekeeper())
                stage.keep(provider)
                // For operators of all tenants: otherwise readiness and metrics need a key.
                let grants = #"[{"value":"video-operators","role":"operator"}]"#
                try SignOnStage.configure(stage.folder, for: provider, ["grants": grants])
                return stage
            },
            make: { $0.kept(StandInProvider.self)?.fault = .tokenFails },
            undo: { $0.kept(StandInProvider.self)?.fault = .none }
        ).found { stage, node in
            let transport = CurlTransport(authorities: stage.folder.file("provider.pem"))
            let console = node.server.addresses.operators.url
            _ = try await SignOnBrowser(console, base: SignOnStage.base, transport).signIn()
        }
    ]

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
