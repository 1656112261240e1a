import LatchkeyCore
package import LatchkeyDecision

/// The latest decisions by their requests' identifiers, to say why one was refused.
///
/// A record holds no token, no key and no SPC. It ends with the process, or when later ones take its place.
package final class RecentDecisions: Sendable {
    /// A decision with its number: 1 for the first of the process, then one more each.
    package final class Kept: Sendable {
        package let number: UInt64
        package let record: DecisionRecord

        // A class, because a record is too large to be moved around among thousands.
        fileprivate init(number: UInt64, record: DecisionRecord) {
            self.number = number
            self.record = record
        }
    }

    private struct State {
        var ring: [Kept?]
        var numbers: [String: UInt64] = [:]
        var last: UInt64 = 0
    }

    private let state: Locked<State>
    private let limit: UInt64

    /// - Parameter limit: how many records are kept. Defaults to 10,000, some 30 MB.
    package init(limit: Int = 10_000) {
        let limit = max(1, limit)
        self.limit = UInt64(limit)
        state = Locked(State(ring: Array(repeating: nil, count: limit)))
    }

    /// Keeps a record; one without a request's identifier is not kept.
    package func keep(_ record: DecisionRecord) {
        guard let requestID = record.requestID else { return }
        state.withLock { state in
            state.last += 1
            let place = Int(state.last % limit)
            if let oldest = state.ring[place], let id = oldest.record.requestID, state.numbers[id] == oldest.number {
                state.numbers[id] = nil
            }
            state.ring[place] = Kept(number: state.last, record: record)
            state.numbers[requestID] = state.last
        }
    }

    /// Forgets some decisions.
    /// - Returns: how many.
    package func forget(where isUnwanted: (DecisionRecord) -> Bool) -> Int {
        state.withLock { state in
            let unwanted = state.ring.compactMap(\.self).filter { isUnwanted($0.record) }
            for kept in unwanted {
                state.ring[Int(kept.number % limit)] = nil
                if let id = kept.record.requestID, state.numbers[id] == kept.number { state.numbers[id] = nil }
            }
            return unwanted.count
        }
    }

    /// The latest record of a request; `nil` if it is not or no longer kept.
    ///
    /// Clients choose identifiers, so several tenants may have used the same: only those of the scope are looked at.
    /// - Parameter scope: the tenants. Defaults to all.
    /// - Complexity: constant; linear in the number kept if another tenant's request used the identifier last.
    package func record(of requestID: String, in scope: TenantScope = .all) -> DecisionRecord? {
        let last = state.withLock { state in state.numbers[requestID].flatMap { state.ring[Int($0 % limit)] } }
        guard let last, !scope.covers(last.record.facts.request.tenant) else { return last?.record }
        return latest(limit: 1, before: last.number) { record in
            scope.covers(record.facts.request.tenant) && record.requestID?.equalsByteForByte(requestID) == true
        }.first?.record
    }

    /// The latest record of a request that belongs to a tenant; `nil` also for another tenant's.
    package func record(of requestID: String, at tenant: String) -> DecisionRecord? {
        record(of: requestID, in: .listed([tenant]))
    }

    /// Some of the latest decisions, the newest first.
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - number: only those before this one; `nil` for the first page.
    ///   - isWanted: which ones. Called under a lock: must be quick.
    /// - Complexity: linear in the number kept.
    package func latest(
        limit: Int, before number: UInt64? = nil, where isWanted: (DecisionRecord) -> Bool = { _ in true }
    ) -> [Kept] {
        state.withLock { state in
            var found: [Kept] = []
            let end = number ?? .max
            var next = end == 0 ? 0 : min(state.last, end - 1)
            while next > 0, next + self.limit > state.last, found.count < limit {
                if let kept = state.ring[Int(next % self.limit)], isWanted(kept.record) { found.append(kept) }
                next -= 1
            }
            return found
        }
    }
}
