import Foundation
import LatchkeySystem
import LatchkeyTerminal
import Testing

@testable import LatchkeyServerTool
@testable import LatchkeyStores
@testable import LatchkeyVault
@testable import StoreProcesses
@testable import TestServers

extension Mishap {
    private static func redis(
        _ name: String, stage: @escaping @Sendable () async throws -> CheckStage = { try await .overRedis() },
        make: @escaping Step, undo: @escaping Step
    ) -> Self { Self("Redis", name, stage: stage, make: make, undo: undo) }

    /// One that a command makes, and another one undoes.
    private static func command(_ name: String, _ make: [String], _ undo: [String]) -> Self {
        redis(name, make: { try $0.tell(make) }, undo: { try $0.tell(undo) })
    }

    static let ofRedis = [
        redis("killed", make: { $0.redisProcess?.stop() }, undo: { try await $0.ownRedis(at: $0.redisPort) }),
        redis(
            "hangs",
            stage: {
                let stage = try await CheckStage.overRedis()
                try stage.folder.edit(["stores.sessionMilliseconds": 1_000])
                return stage
            },
            make: { $0.redisProcess?.pause() }, undo: { $0.redisProcess?.resume() }),
        redis(
            "a primary of a cluster hangs, and no replica takes over",
            stage: {
                let cluster = try await RedisClusterGroup()
                let places = (0..<RedisClusterGroup.primaries).map { "127.0.0.1:\(cluster.port($0))" }
                return try await .over(cluster, "redis+cluster://\(places.joined(separator: ","))")
            },
            make: { $0.kept(RedisClusterGroup.self)?.node(0).pause() },
            undo: { $0.kept(RedisClusterGroup.self)?.node(0).resume() }),
        redis(
            "the primary of a sentinel hangs, and there is no replica",
            stage: {
                let group = try await SentinelGroup()
                return try await .over(group, group.address)
            },
            make: { stage in
                let group = try #require(stage.kept(SentinelGroup.self))
                group.replica.stop()
                group.primary.pause()
            },
            undo: { $0.kept(SentinelGroup.self)?.primary.resume() }),
        redis(
            "one of two regions' is killed",
            stage: {
                let stage = try await CheckStage.overRedis()
                let near = stage.redisPort
                let addresses = try await ["eu": near, "us": stage.ownRedis()].mapValues {
                    JSONValue.text("redis://127.0.0.1:\($0)")
                }
                try stage.folder.edit(["stores.sessions": nil])
                try stage.folder.edit(["stores.regions": .object(addresses), "stores.region": "eu"])
                return stage
            },
            make: { $0.redisProcess?.stop() }, undo: { try await $0.ownRedis(at: $0.redisPort) }),
        command("full", ["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"]),
        command(
            "throws records away when it is full", ["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"],
            ["CONFIG", "SET", "maxmemory-policy", "noeviction"]),
        command(
            "a replica in the primary's place", ["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]),
        command(
            "`min-replicas-to-write` and no replica", ["CONFIG", "SET", "min-replicas-to-write", "1"],
            ["CONFIG", "SET", "min-replicas-to-write", "0"]),
        redis(
            "`?replicas=1` and no replica",
            stage: {
                let stage = try await CheckStage.overRedis(parameters: "?replicas=1")
                try await stage.addReplica()
                return stage
            },
            make: { stage in
                stage.replica?.stop()
                // Until then it may have a write.
                try stage.tell(["PING"], until: "connected_slaves:0")
            },
            undo: { try await $0.addReplica() }),
        redis(
            "older than the node's last view", make: { try await $0.seeNewerSessions() },
            undo: { stage in
                let accepted = await ToolRun("copy", "accept", "--config", stage.folder.configuration)
                #expect(accepted.status == .yes, "\(accepted.error)")
            }),
        redis(
            "`EVALSHA` is renamed",
            make: { stage in
                stage.redisProcess?.stop()
                try await stage.ownRedis("--rename-command", "EVALSHA", "hidden", at: stage.redisPort)
            },
            undo: { stage in
                stage.redisProcess?.stop()
                try await stage.ownRedis(at: stage.redisPort)
            }
        ).passing(["The session store answers again.", "The used-token store answers again."]),
        command(
            "the user may not run `ZADD`", ["ACL", "SETUSER", "default", "-zadd"],
            ["ACL", "SETUSER", "default", "+zadd"]),
        command(
            "the user may not write `latchkey:token:*`",
            ["ACL", "SETUSER", "default", "resetkeys", "%R~*"]
                + ["account", "count", "names"].map { "~latchkey:\($0):*" },
            ["ACL", "SETUSER", "default", "allkeys"]),
        redis(
            "the user's password is another one than in `passwordFile`",
            stage: {
                let stage = try await CheckStage()
                try await stage.redisUser("~latchkey:*", "+@all")
                try stage.secret("hunter2", to: "word")
                try stage.store("sessions", "redis://node@127.0.0.1:\(stage.redisPort)?passwordFile=word")
                return stage
            },
            make: { stage in
                try stage.tell(["ACL", "SETUSER", "node", "resetpass", ">hunter3"])
                try stage.tell(["CLIENT", "KILL", "USER", "node"])
            },
            undo: { try $0.secret("hunter3", to: "word") }),
    ]
}

extension CheckStage {
    /// With sessions in a separate Redis.
    static func overRedis(parameters: String = "") async throws -> CheckStage {
        let stage = try await CheckStage()
        try await stage.ownRedis()
        try stage.store("sessions", "redis://127.0.0.1:\(stage.redisPort)\(parameters)")
        return stage
    }

    /// With sessions in engines that are kept, and patience for a busy machine.
    static func over(_ engines: AnyObject, _ address: String) async throws -> CheckStage {
        let stage = try await CheckStage()
        stage.keep(engines)
        try stage.folder.edit(["stores.sessions": .text(address), "stores.sessionMilliseconds": 1_000])
        return stage
    }

    func tell(_ words: [String]) throws {
        let answer = try #require(try redisProcess?.answer(to: words))
        if case .error(let text) = answer { throw StoreError(redis: text) }
    }

    /// Makes the node's copy remember a mark of the next minute in this stage's Redis.
    func seeNewerSessions() async throws {
        let keys = try redisProcess?.command("KEYS", "latchkey:usage:{-:age-*}").elements
        let key = try #require(keys?.first?.text)
        let name = key.dropFirst("latchkey:usage:{-:age-".count).dropLast()
        let version = try #require(try redisProcess?.command("HGET", key, "v").text.flatMap { UInt64($0) })
        let copy = try SQLiteNodeCopy(path: folder.file("copy.db").path)
        copy.keep(StoreMark(name: String(name), version: version + 60_000_000), of: "sessions")
        await copy.closed()
    }

    /// Starts a replica of this stage's Redis, and waits until it has everything.
    func addReplica() async throws {
        let process = try await RedisProcess(["--replicaof", "127.0.0.1", "\(redisPort)"])
        keep(process)
        replica = process
        try await process.says("sync: Finished with success")
    }
}
