import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

/// A record of licenses in memory that a test can take down or make hang.
package final class SwitchedRecord: RecordReporter {
    /// Its state.
    package enum State: Sendable {
        case answers, isAway
        /// Does not answer until its state changes.
        case hangs
    }

    private struct Held {
        var rows: [LicenseRecordRow] = []
        var state = State.answers
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// How many more questions it answers; `nil` for all.
        var left: Int?
    }

    package let engine = "switched"
    private let held = Locked(Held())
    private let now: @Sendable () -> Int64

    /// - Parameter now: milliseconds since 1970.
    package init(now: @escaping @Sendable () -> Int64) { self.now = now }

    package func add(_ rows: [LicenseRecordRow]) { held.withLock { $0.rows += rows } }

    package func set(_ state: State) {
        let waiting = held.withLock { held in
            held.state = state
            defer { held.waiting = [] }
            return held.waiting
        }
        for one in waiting { one.resume() }
    }

    /// Answers some more questions, and is down then.
    package func answer(only count: Int) { held.withLock { $0.left = count } }

    /// How many questions wait for an answer.
    package var waitingCount: Int { held.withLock { $0.waiting.count } }

    package func rows(_ query: RecordQuery) async throws(StoreError) -> [LicenseRecordRow] {
        let rows = try await all().filter { query.wants($0) }.sorted { $1.isBefore(RecordCursor($0)) }
        return Array(rows.prefix(query.limit))
    }

    package func report(_ report: RecordReport) async throws(StoreError) -> RecordReportAnswer {
        var count = ReportCount(report)
        for row in try await all() { count.add(row) }
        return count.answer(asOf: now())
    }

    package func viewers(_ question: RecordViewers.Question) async throws(StoreError) -> RecordViewers {
        var count = ViewerCount(question)
        for row in try await all() { count.add(row) }
        return count.answer(asOf: now())
    }

    package func standing(of tenant: String?) async throws(StoreError) -> RecordStanding {
        let rows = try await all()
        let nodes = Dictionary(grouping: rows, by: \.position.node).compactMap { node, rows in
            rows.map(\.time).max().map { RecordStanding.Node(node, newest: $0) }
        }
        return RecordStanding(oldest: rows.map(\.time).min(), nodes: nodes, asOf: now())
    }

    private func all() async throws(StoreError) -> [LicenseRecordRow] {
        await withCheckedContinuation { continuation in
            let isHeld = held.withLock { held in
                guard case .hangs = held.state else { return false }
                held.waiting.append(continuation)
                return true
            }
            if !isHeld { continuation.resume() }
        }
        let (rows, state) = held.withLock { held in
            if let left = held.left {
                held.left = left - 1
                if left <= 0 { held.state = .isAway }
            }
            return (held.rows, held.state)
        }
        guard case .answers = state else {
            throw StoreError(.unavailable, engine, reason: "The test took it away.")
        }
        return rows
    }
}
