import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyStores
@testable import StoreProcesses

private let sessions = ProcessInfo.processInfo.environment["LATCHKEY_CLUSTER_SESSIONS"].flatMap { Int($0) } ?? 3_000

/// Operators' queries alongside licenses, over many sessions: `LATCHKEY_CLUSTER_SESSIONS=1000000`, with `LATCHKEY_CLUSTER_FIGURES=FILE` for
/// the times. The test run makes do with fewer, and checks the results.
@Suite(
    .timeLimit(.minutes(max(5, sessions / 20_000))), .serialized,
    .enabled(if: RedisProcess.isInstalled, "redis-server is not installed."))
struct RedisMillionTrial {
    private static let lanes = 16
    private static let batch = 500
    private static let licenses = 2_000

    @Test(arguments: ["one server", "cluster"])
    func `the first page, a search and the count are exact under load`(_ form: String) async throws {
        if form == "cluster" {
            let group = try await RedisClusterGroup()
            try await look(try RedisRecordStore(group.address(), limit: .seconds(30)), form)
            withExtendedLifetime(group) {}
        } else {
            let redis = try await RedisProcess()
            try await look(try redis.store(), form)
            withExtendedLifetime(redis) {}
        }
    }

    private static func name(_ number: Int) -> String { "viewer-\(String(1_000_000_000 + number).dropFirst())" }

    private func look(_ store: RedisRecordStore, _ form: String) async throws {
        // Records written from now on are listed and counted.
        #expect(try await store.counted() == RecordCount(0, isWhole: true))
        try await fill(store)
        let before = try await licenseTimes(store)
        var pages: [Duration] = []
        let pager = Task {
            while !Task.isCancelled {
                _ = try await store.page(of: .account, "acme", prefix: "", after: nil, limit: 50)
            }
        }
        let beside = try await licenseTimes(store)
        pager.cancel()
        _ = try await pager.value
        for _ in 0..<20 {
            let start = ContinuousClock.now
            let page = try await store.page(of: .account, "acme", prefix: "", after: nil, limit: 50)
            pages.append(ContinuousClock.now - start)
            #expect(page.map(\.name) == (0..<50).map(Self.name))
        }
        let found = try await store.page(of: .account, "acme", prefix: Self.name(sessions / 2), after: nil, limit: 50)
        #expect(found.map(\.name) == [Self.name(sessions / 2)])
        let start = ContinuousClock.now
        let count = try await store.counted()
        let counting = ContinuousClock.now - start
        #expect(count == RecordCount(sessions, isWhole: true))
        try report(
            "\(form), \(sessions) sessions: page of 50 \(words(pages)), count \(counting.inMilliseconds.rounded()) ms, licenses \(words(before)), beside pages \(words(beside))\n"
        )
    }

    private func fill(_ store: RedisRecordStore) async throws {
        let end = Date() + 86_400
        let (time, score) = (Array("\(Int(end.timeIntervalSince1970 * 1_000))".utf8), end.redisScore)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<Self.lanes {
                group.addTask {
                    for first in stride(from: lane * Self.batch, to: sessions, by: Self.lanes * Self.batch) {
                        let calls = (first..<min(first + Self.batch, sessions)).map { number in
                            let name = Self.name(number)
                            return RedisRecordStore.ScriptCall(
                                keys: store.layout.keys(of: RecordKey(.account, tenant: "acme", name: name)),
                                arguments: [[], Array("1".utf8), [1], time, [], [], Array(name.utf8), score])
                        }
                        for answers in try await store.run(.writeAndCount, calls, on: .operators) {
                            _ = try answers.first.checked()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// How long licenses of another tenant wait for their slots.
    private func licenseTimes(_ store: RedisRecordStore) async throws -> [Duration] {
        let node = AccountSessions(
            accounts: store, secrets: [Secret("s")], limits: RecordStoreLimits(time: .seconds(30)))
        let policy = try Policy(
            json: Data(#"{"version":1,"concurrency":{"limit":3},"outage":{"sessionStore":"refuse"}}"#.utf8))
        var times: [Duration] = []
        for _ in 0..<(sessions < 100_000 ? 50 : Self.licenses) {
            var facts = Facts()
            (facts.request.tenant, facts.grant.account, facts.grant.session) = ("demo", UUID().uuidString, "s")
            let start = ContinuousClock.now
            #expect(await node.decide(facts, by: policy).slot != nil)
            times.append(ContinuousClock.now - start)
        }
        return times
    }

    private func words(_ times: [Duration]) -> String {
        let times = times.sorted()
        let at = { (share: Double) in
            (times[Int(Double(times.count - 1) * share)].inMilliseconds * 100).rounded() / 100
        }
        return "p50 \(at(0.5)) ms, p99 \(at(0.99)) ms"
    }

    private func report(_ line: String) throws {
        guard let path = ProcessInfo.processInfo.environment["LATCHKEY_CLUSTER_FIGURES"] else { return }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(line.utf8))
    }
}
