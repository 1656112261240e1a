import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyStores
@testable import StoreProcesses

/// Records in a real Redis.
@Suite(.timeLimit(.minutes(5)), .serialized, .enabled(if: RedisProcess.isInstalled, "redis-server is not installed."))
struct RedisRecordStoreTests {
    private static let rates = ProcessInfo.processInfo.environment["LATCHKEY_RATES"]
    private static let key = RecordKey(.account, tenant: "demo", name: "anna")

    private func kind(_ body: () async throws -> Void) async -> StoreError.Kind? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? StoreError)?.kind
        }
    }

    @Test func `a record is written only under the version that was read`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        let now = try await store.read(Self.key).now
        let bytes = (0...255).map { UInt8($0) }
        let end = now + 100
        #expect(try await store.write(Record(version: 5, bytes: bytes), at: Self.key, replacing: nil, until: end))
        #expect(try await !store.write(Record(version: 6, bytes: [1]), at: Self.key, replacing: nil, until: end))
        #expect(try await !store.write(Record(version: 6, bytes: [1]), at: Self.key, replacing: 4, until: end))
        #expect(try await store.read(Self.key).record == Record(version: 5, bytes: bytes))
        #expect(try await store.write(Record(version: .max, bytes: []), at: Self.key, replacing: 5, until: end))
        #expect(try await store.read(Self.key).record == Record(version: .max, bytes: []))
        #expect(try await !store.remove(Self.key, version: 5))
        #expect(try await store.remove(Self.key, version: .max))
        #expect(try await store.read(Self.key).record == nil)
        #expect(try await !store.remove(Self.key, version: .max))
    }

    @Test func `a record ends by the engine's clock`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        let now = try await store.read(Self.key).now
        #expect(abs(now.timeIntervalSinceNow) < 60)
        #expect(try await store.write(Record(version: 5, bytes: [1]), at: Self.key, replacing: nil, until: now - 1))
        #expect(try await store.read(Self.key).record == nil)
        #expect(try await store.write(Record(version: 6, bytes: [1]), at: Self.key, replacing: nil, until: now + 100))
    }

    @Test func `pages list a tenant's records in byte order`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        let end = try await store.read(Self.key).now + 1_000
        for (tenant, name) in [("demo", "b"), ("demo", "a*"), ("demo", "a}{é"), ("dem", "o:x"), ("demo", "a")] {
            let key = RecordKey(.account, tenant: tenant, name: name)
            #expect(try await store.write(Record(version: 1, bytes: [7]), at: key, replacing: nil, until: end))
        }
        func names(_ prefix: String, _ after: String? = nil, _ limit: Int = 100) async throws -> [String] {
            try await store.page(of: .account, "demo", prefix: prefix, after: after, limit: limit).map(\.name)
        }
        #expect(try await names("") == ["a", "a*", "a}{é", "b"])
        #expect(try await names("a*") == ["a*"])
        #expect(try await names("", "a", 2) == ["a*", "a}{é"])
        let first = try await store.page(of: .account, "demo", prefix: "b", after: nil, limit: 1).first
        #expect(first?.record == Record(version: 1, bytes: [7]))
        #expect(abs((first?.end ?? .distantPast).timeIntervalSince(end)) < 0.01)
        // There is no list of them.
        #expect(await kind { _ = try await store.page(of: .token, "demo", prefix: "", after: nil, limit: 9) } == .unfit)
    }

    @Test func `writes keep a count of live records through renewals, stops and removals`() async throws {
        let redis = try await RedisProcess()
        try await redis.store().checkCounts()
    }

    @Test func `two nodes grant no slot too many`() async throws {
        let redis = try await RedisProcess()
        let limits = RecordStoreLimits(time: .seconds(30))
        let books = try (0..<2).map { _ in
            try AccountSessions(accounts: redis.store(), secrets: [Secret("s")], limits: limits)
        }
        let policy = try Policy(
            json: Data(#"{"version":1,"concurrency":{"limit":2},"outage":{"sessionStore":"refuse"}}"#.utf8))
        let words = await withTaskGroup(of: String.self) { group in
            for number in 0..<16 {
                var facts = Facts()
                (facts.request.tenant, facts.grant.account, facts.grant.session) = ("demo", "anna", "s\(number)")
                group.addTask { [facts] in await books[number % 2].decide(facts, by: policy).decision.word }
            }
            return await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(words == ["license": 2, "sessionLimit": 14])
        #expect(try await books[0].account("anna", of: "demo").slots.count == 2)
    }

    @Test func `a server that is gone is unavailable, and used again on its return`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        #expect(try await store.read(Self.key).record == nil)
        redis.stop()
        #expect(await kind { _ = try await store.read(Self.key) } == .unavailable)
        let again = try await RedisProcess(path: redis.path)
        #expect(
            try await store.write(
                Record(version: 1, bytes: []), at: Self.key, replacing: nil, until: Date(timeIntervalSinceNow: 100)))
        withExtendedLifetime(again) {}
    }

    @Test func `a primary that became a replica takes no write until it is one again`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store()
        func write(_ version: UInt64) async throws {
            _ = try await store.write(
                Record(version: version, bytes: []), at: RecordKey(.token, tenant: "t", name: "\(version)"),
                replacing: nil, until: Date(timeIntervalSinceNow: 100))
        }
        try await write(1)
        try redis.command("REPLICAOF", "127.0.0.1", "1")
        for _ in 0..<2 { #expect(await kind { try await write(2) } == .unavailable) }
        try redis.command("REPLICAOF", "NO", "ONE")
        try await write(3)
    }

    @Test func `a password is required if the server has one`() async throws {
        let redis = try await RedisProcess(["--requirepass", "hunter2"])
        #expect(await kind { _ = try await redis.store().read(Self.key) } == .misconfigured)
    }

    @Test func `a cluster without slots is unavailable and says so`() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
        let redis = try await RedisProcess(["--cluster-enabled", "yes", "--dir", folder.url.path])
        let store = try redis.store()
        await #expect { _ = try await store.read(Self.key) } throws: { error in
            (error as? StoreError)?.kind == .unavailable && "\(error)".contains("cluster")
        }
        withExtendedLifetime((redis, folder)) {}
    }

    @Test(arguments: [
        "MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381", "CROSSSLOT Keys in request don't hash to the same slot",
    ])
    func `a cluster's answer at a plain address is an error whose remedy is a cluster address`(_ answer: String) {
        let error = StoreError(redis: answer)
        #expect(error.kind == .misconfigured)
        #expect(error.remedy.contains("redis+cluster://"))
    }

    @Test func `a write that too few replicas have is unavailable`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store(replicas: .init(1, within: .milliseconds(1)))
        #expect(
            await kind {
                _ = try await store.write(
                    Record(version: 1, bytes: []), at: Self.key, replacing: nil, until: Date(timeIntervalSinceNow: 100))
            } == .unavailable)
    }

    @Test func `a write may also take the replicas' time`() async throws {
        let redis = try await RedisProcess()
        let store = try redis.store(replicas: .init(1, within: .seconds(1)), limit: .seconds(4))
        // Both connections are open by then; without a replica the write fails.
        let end = try await store.read(Self.key).now + 60
        _ = try? await store.write(Record(version: 1, bytes: []), at: Self.key, replacing: nil, until: end)
        // Nothing is answered for a while.
        try redis.command("CLIENT", "PAUSE", "60000", "ALL")
        let read = await #expect(throws: StoreError.self) { try await store.read(Self.key) }
        let write = await #expect(throws: StoreError.self) {
            try await store.write(Record(version: 2, bytes: []), at: Self.key, replacing: nil, until: end)
        }
        for (error, limit) in [(read, 4), (write, 5)] {
            let reason = error?.reason ?? ""
            #expect(reason == "Redis did not answer within \(Duration.seconds(limit).inWords).", "\(reason)")
        }
    }

    /// `LATCHKEY_RATES=FILE`: appends to the file how many slots are taken a second.
    @Test(
        .enabled(if: rates != nil, "LATCHKEY_RATES is not set"), arguments: ["memory", "redis"])
    func `slots per second`(_ engine: String) async throws {
        let count = 3_200
        let redis = try await RedisProcess()
        let store: any RecordStore = engine == "memory" ? MemoryRecordStore() : try redis.store()
        let accountSessions = AccountSessions(
            accounts: store, secrets: [Secret("s")], limits: RecordStoreLimits(time: .seconds(30)))
        let policy = try Policy(
            json: Data(#"{"version":1,"concurrency":{"limit":3},"outage":{"sessionStore":"refuse"}}"#.utf8))
        let start = ContinuousClock.now
        let licenses = await withTaskGroup(of: Int.self) { group in
            for lane in 0..<32 {
                group.addTask {
                    var licenses = 0
                    for number in 0..<(count / 32) {
                        var facts = Facts()
                        (facts.request.tenant, facts.grant.account, facts.grant.session) = (
                            "demo", "a\(lane)-\(number)", "s"
                        )
                        licenses += await accountSessions.decide(facts, by: policy).decision.terms == nil ? 0 : 1
                    }
                    return licenses
                }
            }
            return await group.reduce(0, +)
        }
        #expect(licenses == count / 32 * 32)
        let rate = Int(Double(licenses) / (ContinuousClock.now - start).inSeconds)
        let file = try FileHandle(forWritingTo: URL(filePath: Self.rates ?? ""))
        try file.seekToEnd()
        try file.write(contentsOf: Data("\(engine): \(rate) a second\n".utf8))
    }
}
