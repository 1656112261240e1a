import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVault
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyStores
@testable import LatchkeySystem
@testable import StoreProcesses

/// Limits while the session store stalls again and again, longer than a license waits for it, and more devices ask than may play.
@Suite(.timeLimit(.minutes(5)), .serialized) struct StalledStoreTests {
    private static let viewers = 20
    private static let limit = 3
    /// How many of the viewers' 200 devices ask in each round. The first round, and every second one after it, is in a stall.
    private static let devicesInRound = 4

    enum Stalling: String, CaseIterable, CustomTestStringConvertible {
        case sqlite, redis, postgresql

        static let installed = allCases.filter { engine in
            (engine != .postgresql || PostgreSQLProcess.programs != nil)
                && (engine != .redis || RedisProcess.isInstalled)
        }
        var testDescription: String { rawValue }

        /// Two nodes' stores over one engine that stalls.
        func open(_ body: ([any RecordStore], (_ isStalled: Bool) throws -> Void) async throws -> Void) async throws {
            switch self {
            case .sqlite:
                let folder = try TemporaryFolder()
                let stores = try (0..<2).map { _ in try SQLiteStore(path: folder.path("store.db")) }
                let other = try SQLiteConnection(path: folder.path("store.db"), busy: .seconds(60))
                try await body(stores) { try other.execute($0 ? "BEGIN IMMEDIATE" : "ROLLBACK") }
                for store in stores { store.close() }
            case .redis:
                let redis = try await RedisProcess()
                try await body([redis.store(), redis.store()]) { $0 ? redis.pause() : redis.resume() }
            case .postgresql:
                // Its own, because others must not stall with it.
                let server = try await PostgreSQLProcess()
                let address = server.address(of: try await server.database())
                let first = try await PostgreSQLStore.open(address, .patient, migrates: true)
                let second = try await PostgreSQLStore.open(address, .patient)
                try await body([first, second]) { try server.hang($0) }
                for store in [first, second] { store.close() }
            }
        }
    }

    @Test(arguments: Stalling.installed)
    func `200 devices per viewer get the limit from two nodes, or from each after an outage`(
        _ engine: Stalling
    ) async throws {
        let policy = try Policy(
            json: Data(#"{"version":1,"validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":3}}"#.utf8))
        let licensed = Locked([[Set<String>]](repeating: [[], []], count: Self.viewers))
        let codes = Locked<[String: Int]>([:])
        try await engine.open { stores, stall in
            let nodes = stores.map { AccountSessions(accounts: $0, secrets: []) }
            // How long after its last answer a store counted as out.
            let outages = Locked<[Duration]>([])
            for one in nodes.flatMap(\.watched) {
                let (timekeeper, begin) = (one.health.timekeeper, one.health.timekeeper.uptime)
                one.health.whenChanged { _, standing in
                    guard standing.isAway else { return }
                    outages.withLock { $0.append(timekeeper.uptime - (standing.answered ?? begin)) }
                }
            }
            for round in 0..<(200 / Self.devicesInRound) {
                if round % 2 == 0 { try stall(true) }
                await withTaskGroup { group in
                    for viewer in 0..<Self.viewers {
                        for device in 0..<Self.devicesInRound {
                            let (session, number) = ("\(round)-\(device)", device % 2)
                            group.addTask {
                                var facts = Facts()
                                (facts.request.tenant, facts.grant.account) = ("acme", "viewer-\(viewer)")
                                facts.grant.session = session
                                let decision = await nodes[number].decide(facts, by: policy).decision
                                if decision.terms != nil {
                                    licensed.withLock { _ = $0[viewer][number].insert(session) }
                                } else if case .refuse(let refusal, _, _) = decision {
                                    codes.withLock { $0[refusal.code, default: 0] += 1 }
                                }
                            }
                        }
                    }
                }
                if round % 2 == 0 { try stall(false) }
            }
            // Only a busy machine stretches stalls so far that the store counts as out.
            #expect(outages.withLock { $0 }.allSatisfy { $0 >= .seconds(2) }, "\(outages.withLock { $0 })")
            let isBound = outages.withLock { $0 }.isEmpty
            for nodes in licensed.withLock({ $0 }) {
                #expect(nodes.allSatisfy { $0.count <= Self.limit })
                // Fewer, where a write was late, so that its viewer got no license, and took a slot afterwards.
                #expect(!isBound || nodes[0].union(nodes[1]).count <= Self.limit)
            }
        }
        #expect(codes.withLock { $0["overloaded"] ?? 0 } > 0, "Nothing stalled: \(codes.withLock { $0 })")
        #expect(codes.withLock { $0["sessionLimit"] ?? 0 } > 0)
    }
}
