import LatchkeySystem
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyStores
@testable import StoreProcesses
@testable import TestServers

extension Mishap {
    private static func disk(
        _ engine: String, _ name: String, stage: @escaping @Sendable () async throws -> CheckStage,
        whenFull: @escaping Step = { _ in }, whenRoomy: @escaping Step = { _ in },
        proof: @escaping @Sendable (CheckStage, TestServer) async throws -> Void = { _, _ in }
    ) -> Self {
        Self(
            engine, name, stage: stage,
            make: { stage in
                try stage.disk?.fill()
                try await whenFull(stage)
            },
            undo: { stage in
                try stage.disk?.makeRoom()
                try await whenRoomy(stage)
            }, proof: proof)
    }

    /// Real file systems without room for a page.
    static let ofDisks = [
        disk(
            "PostgreSQL", "its disk is full", stage: { try await .alone(on: SmallDisk(megabytes: 160)) },
            proof: { _, node in
                // A takedown need not wait for room.
                let disabled = try await node.admin("tenants/demo/keys/\(TestServer.kid(2))/disable", "POST")
                let license = try await node.license(2)
                #expect(disabled.status == 202 && license.status == 403)
            }),
        disk(
            "Redis", "its disk is full, with `appendonly yes`",
            stage: {
                let stage = try await CheckStage()
                try await stage.ownRedis("--dir", stage.makeDisk(megabytes: 8), "--appendonly", "yes")
                try stage.store("sessions", "redis://127.0.0.1:\(stage.redisPort)")
                return stage
            },
            whenFull: { stage in
                let page = String(repeating: "x", count: 5_000)
                try stage.tell(["SET", "elsewhere", page], until: "aof_last_write_status:err")
            },
            whenRoomy: { try $0.tell(["PING"], until: "aof_last_write_status:ok") }),
        disk(
            "Redis", "its disk is full, with `save`",
            stage: {
                let stage = try await CheckStage()
                try await stage.ownRedis("--dir", stage.makeDisk(megabytes: 8))
                try stage.tell(["CONFIG", "SET", "save", "3600 1"])
                try stage.store("sessions", "redis://127.0.0.1:\(stage.redisPort)")
                return stage
            },
            whenFull: { try $0.tell(["BGSAVE"], until: "rdb_last_bgsave_status:err") },
            whenRoomy: { try $0.tell(["BGSAVE"], until: "rdb_last_bgsave_status:ok") }),
        disk(
            "SQLite", "the file's disk is full",
            stage: {
                let stage = try await CheckStage()
                let file = try JSONValue.text("sqlite:\(stage.makeDisk(megabytes: 64))/latchkey.db")
                try stage.folder.edit([
                    "stores": ["sessions": file, "keys": file, "audit": file, "sessionMilliseconds": 1_000]
                ])
                return stage
            }),
        disk(
            "Node", "the disk of `stores.copy` is full",
            stage: {
                let stage = try await CheckStage()
                try stage.store("copy", "sqlite:\(stage.makeDisk(megabytes: 64))/copy.db")
                return stage
            }
        ).withinHalfMinutes,
        disk(
            "Node", "the disk of `record.folder` is full",
            stage: {
                let stage = try await CheckStage()
                let folder = try JSONValue.text("\(stage.makeDisk(megabytes: 64))/record")
                try stage.folder.edit(["record": ["folder": folder, "destination": "files:rows", "megabytes": 32]])
                return stage
            }),
    ]
}

extension CheckStage {
    /// With a PostgreSQL on its own file system, and room for its write-ahead log.
    static func alone(on disk: SmallDisk) async throws -> CheckStage {
        let stage = try await CheckStage(on: disk)
        try await stage.takeRole()
        try await stage.asOwner("SELECT pg_switch_wal()")
        try await stage.asOwner("SELECT pg_logical_emit_message(true, 'latchkey', 'begins the next file')")
        return stage
    }

    /// Sends a command to this stage's Redis until it reports a state.
    func tell(_ words: [String], until standing: String) throws {
        repeat {
            _ = try redisProcess?.answer(to: words)
        } while try redisProcess?.command("INFO").text?
            .contains(standing) != true
    }
}
