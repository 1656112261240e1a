import LatchkeyCore
import LatchkeySystem

/// Reads from the server that takes writes. While no server takes writes, reads from one that does not: a standby, or a read-only database.
struct PostgreSQLReaders: Sendable {
    private let writers: PostgreSQLPool
    /// `nil` if the address itself says which servers will do.
    private let others: PostgreSQLLane.Setup?
    /// An extra connection, open only while it is needed.
    private let other = Locked<PostgreSQLPool?>(nil)

    init(_ writers: PostgreSQLPool, _ setup: PostgreSQLLane.Setup) {
        self.writers = writers
        others = setup.hosts.forReaders.map { hosts in
            var setup = setup
            setup.hosts = hosts
            return setup
        }
    }

    /// - Throws: the errors of the body.
    func ask<Answer: Sendable>(
        _ body: (PostgreSQLPool) async throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        do throws(StoreError) {
            let answer = try await body(writers)
            close()
            return answer
        } catch {
            // A server that hangs, or whose tables are locked, still accepts connections; callers do not wait for it twice.
            guard error.kind == .unavailable, writers.isOut, let pool = try standIn() else { throw error }
            return try await body(pool)
        }
    }

    func run(_ call: PostgreSQLCall, within limit: Duration) async throws(StoreError) -> PostgreSQLAnswer {
        try await ask { pool throws(StoreError) in try await pool.run(call, within: limit) }
    }

    func close() {
        other.withLock { pool in
            pool?.close()
            pool = nil
        }
    }

    private func standIn() throws(StoreError) -> PostgreSQLPool? {
        guard let others else { return nil }
        if let pool = other.withLock({ $0 }) { return pool }
        let made = try PostgreSQLPool(others, count: 1, name: "readers")
        return other.withLock { pool in
            if pool == nil { pool = made } else { made.close() }
            return pool
        }
    }
}
