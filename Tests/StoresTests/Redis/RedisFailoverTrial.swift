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

/// Two nodes take slots in a cluster whose primaries are killed and hang under them. `LATCHKEY_CLUSTER_ACQUIRES=1000000` takes so many, and
/// `LATCHKEY_CLUSTER_FIGURES=FILE` appends the figures; the test run makes do with fewer.
private let acquires = ProcessInfo.processInfo.environment["LATCHKEY_CLUSTER_ACQUIRES"].flatMap { Int($0) } ?? 4_000

@Suite(
    .timeLimit(.minutes(max(5, acquires / 20_000))), .serialized,
    .enabled(if: RedisProcess.isInstalled, "redis-server is not installed."))
struct RedisFailoverTrial {
    private static let limit = 2
    /// Acquires of one account: two and a half times its limit.
    private static let each = 5
    private static let lanes = 32

    private struct Tally: Sendable {
        var asked = 0, granted = 0, refused = 0, out = 0, retried = 0, lost = 0
        /// The sessions with a slot, by account.
        var holding: [String: Set<String>] = [:]
    }

    /// - Parameter waits: whether a replica has to have each write.
    @Test(arguments: [true, false])
    func `a cluster that loses primaries grants no slot too many, and a license takes one retry`(
        _ waits: Bool
    ) async throws {
        let group = try await RedisClusterGroup()
        let nodes = try (0..<2).map { _ in
            let store = try RedisRecordStore(
                group.address(), replicas: waits ? .init(1, within: .milliseconds(500)) : nil, limit: .seconds(2))
            return AccountSessions(
                accounts: store, secrets: [Secret("s")],
                limits: RecordStoreLimits(time: .seconds(3), breaker: .init(pause: .milliseconds(200))))
        }
        // With refuse, an unanswered call gets no license; the second try has the rule that a business has.
        let strict = try policy("refuse"), open = try policy("allow:2m")
        let (tally, progress) = (Locked(Tally()), Locked(0))
        let accounts = acquires / Self.each
        let work = Task {
            await withTaskGroup(of: Void.self) { tasks in
                for lane in 0..<Self.lanes {
                    tasks.addTask {
                        for account in stride(from: lane, to: accounts, by: Self.lanes) {
                            for number in 0..<Self.each {
                                await Self.acquire(
                                    "viewer-\(account)", "s\(number)", nodes, number, strict, open, tally)
                            }
                            progress.withLock { $0 += 1 }
                        }
                    }
                }
            }
        }
        for (share, number) in [(0.2, 0), (0.5, 1)] {
            while Double(progress.withLock { $0 }) < Double(accounts) * share { await Task.yield() }
            // The second one hangs.
            try await group.failOver(number, hanging: number == 1)
            if number == 0 { try await group.restart(0) } else { group.node(1).resume() }
        }
        await work.value
        let all = tally.withLock { $0 }
        let (tooMany, forgotten) = try await look(all, group)
        try report(waits, all, tooMany, forgotten)
        #expect(all.lost == 0)
        #expect(all.granted + all.refused + all.out == all.asked)
        if waits { #expect(tooMany == 0 && forgotten == 0) }
        // Only forgotten slots let accounts exceed the limit, even without waiting for replicas.
        #expect(tooMany <= forgotten)
    }

    private func policy(_ rule: String) throws -> Policy {
        try Policy(
            json: Data(
                #"{"version":1,"validity":{"type":"lease","lease":"24h"},"concurrency":{"limit":\#(Self.limit)},"outage":{"sessionStore":"\#(rule)"}}"#
                    .utf8))
    }

    private static func acquire(
        _ account: String, _ session: String, _ nodes: [AccountSessions], _ number: Int, _ strict: Policy,
        _ open: Policy, _ tally: Locked<Tally>
    ) async {
        var facts = Facts()
        (facts.request.tenant, facts.grant.account, facts.grant.session) = ("demo", account, session)
        var booked = await nodes[number % 2].decide(facts, by: strict)
        let isFirst = booked.decision.terms != nil || booked.decision.word == "sessionLimit"
        if !isFirst { booked = await nodes[(number + 1) % 2].decide(facts, by: open) }
        let (slot, word, hasTerms) = (booked.slot, booked.decision.word, booked.decision.terms != nil)
        tally.withLock { tally in
            tally.asked += 1
            tally.retried += isFirst ? 0 : 1
            if let slot {
                tally.granted += 1
                tally.holding[account, default: []].insert(slot.session)
            } else if hasTerms {
                tally.out += 1
            } else if word == "sessionLimit" {
                tally.refused += 1
            } else {
                tally.lost += 1
            }
        }
    }

    /// How many slots accounts got beyond the limit, and how many slots that nodes were granted are missing.
    private func look(
        _ tally: Tally, _ group: RedisClusterGroup
    ) async throws -> (tooMany: Int, forgotten: Int) {
        let sessions = AccountSessions(
            accounts: try group.store(), secrets: [], limits: RecordStoreLimits(time: .seconds(60)))
        var (tooMany, forgotten) = (0, 0)
        for (account, holding) in tally.holding {
            let held = Set(try await sessions.account(account, of: "demo").slots.map(\.session))
            tooMany += max(0, holding.count - Self.limit)
            forgotten += holding.subtracting(held).count
        }
        return (tooMany, forgotten)
    }

    private func report(_ waits: Bool, _ tally: Tally, _ tooMany: Int, _ forgotten: Int) throws {
        guard let path = ProcessInfo.processInfo.environment["LATCHKEY_CLUSTER_FIGURES"] else { return }
        let line =
            "\(waits ? "replicas=1" : "no WAIT"): \(tally.asked) acquires, \(tally.granted) slots, \(tally.refused) refused, \(tally.retried) retried, \(tally.out) without a slot, \(tally.lost) lost, \(tooMany) too many, \(forgotten) forgotten\n"
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(line.utf8))
    }
}
