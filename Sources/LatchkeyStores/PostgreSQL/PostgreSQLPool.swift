import LatchkeyCore
import LatchkeySystem

/// Connections for one kind of work.
struct PostgreSQLPool: Sendable {
    /// How often a transaction is retried after a conflict.
    private static let attempts = 8

    private let first: PostgreSQLLane
    private let others: [PostgreSQLLane]

    init(_ setup: PostgreSQLLane.Setup, count: Int, name: String) throws(StoreError) {
        first = try PostgreSQLLane(setup, name: "\(name)-1")
        var others: [PostgreSQLLane] = []
        for number in stride(from: 2, through: count, by: 1) {
            others.append(try PostgreSQLLane(setup, name: "\(name)-\(number)"))
        }
        self.others = others
    }

    /// Runs statements as one transaction, over the least busy connection.
    /// - Parameter limit: how long the caller waits for all of it.
    /// - Throws: `StoreError`; it is unknown then whether it was done, unless PostgreSQL says that it was not.
    func run(_ calls: [PostgreSQLCall], within limit: Duration) async throws(StoreError) -> [PostgreSQLAnswer] {
        let deadline = ContinuousClock.now + limit
        for attempt in 1... {
            let outcome = await withCheckedContinuation { done in
                quietest.add(PostgreSQLJob(calls: calls, deadline: deadline) { done.resume(returning: $0) })
            }
            switch outcome {
            case .answers(let answers): return answers
            case .crossing where attempt < Self.attempts: continue
            case .crossing(let error), .failure(let error): throw error
            }
        }
        throw PostgreSQLFailure("40001").error
    }

    /// Runs one statement.
    func run(_ call: PostgreSQLCall, within limit: Duration) async throws(StoreError) -> PostgreSQLAnswer {
        try await run([call], within: limit).last ?? PostgreSQLAnswer(rows: [], count: 0)
    }

    /// Whether no host takes a connection, as far as known.
    var isOut: Bool {
        let lanes = [first] + others
        return lanes.contains { $0.trouble != nil } && !lanes.contains { $0.load.isUp }
    }

    package func close() {
        for lane in [first] + others { lane.close() }
    }

    /// A connection that is up, if there is one; of several, the least busy.
    private var quietest: PostgreSQLLane {
        let start = (lane: first, load: first.load)
        return others.reduce(start) { best, lane in
            let load = lane.load
            let isBetter = load.isUp == best.load.isUp ? load.count < best.load.count : load.isUp
            return isBetter ? (lane, load) : best
        }.lane
    }
}
