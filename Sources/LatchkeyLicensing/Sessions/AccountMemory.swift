import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem
import LatchkeyVault

/// A node's memory of the accounts or the single-use tokens that it licensed last: it enforces limits while their store is out of service.
///
/// Each node has its own memory, so in an outage an account gets at most its limit from each node that it asks, and a token is used at most
/// once at each node.
///
/// Source: `Documentation/LicenseServer.md` §7.1.
final class AccountMemory<Value: Sendable>: Sendable {
    private struct Known {
        var value: Value
        /// Whether it has licenses that the store does not know.
        var isAhead: Bool
        /// Changes with each license that the store does not know of.
        var version: UInt64
        /// From when on it does not count.
        var end = Date.distantFuture
    }

    private let known: Locked<RecentValues<RecordKey, Known>>

    /// - Parameter limit: the most accounts or tokens that are remembered; the oldest are forgotten.
    init(limit: Int) { known = Locked(RecentValues(limit: limit)) }

    /// The account or use as far as this node knows it, and the version for `replace`.
    func value(_ key: RecordKey, at now: Date) -> (value: Value?, version: UInt64) {
        let known = known.withLock { $0.value(key) }
        return (known.flatMap { now < $0.end ? $0.value : nil }, known?.version ?? 0)
    }

    /// Notes the store's state. State ahead of the store stays until the store holds it.
    func note(_ value: Value, at key: RecordKey, isWritten: Bool) {
        known.withLock { known in
            let former = known.peek(key)
            guard isWritten || former?.isAhead != true else { return }
            known.set(Known(value: value, isAhead: false, version: (former?.version ?? 0) &+ 1), for: key)
        }
    }

    func forget(_ key: RecordKey) { known.withLock { $0.remove(key) } }

    /// Notes a license that the store does not learn of.
    /// - Parameter end: from when on the license does not count. Defaults to no end.
    /// - Returns: whether the value was unchanged meanwhile.
    func replace(
        _ version: UInt64, with value: Value, at key: RecordKey, end: Date = .distantFuture
    ) -> Bool {
        known.withLock { known in
            guard known.peek(key)?.version ?? 0 == version else { return false }
            known.set(Known(value: value, isAhead: true, version: version &+ 1, end: end), for: key)
            return true
        }
    }
}

extension AccountMemory<AccountState> {
    /// A slot that the store extended.
    func extend(_ session: String, at key: RecordKey, until end: Date) {
        known.withLock { known in
            known.update(key) { known in
                for index in known.value.slots.indices where known.value.slots[index].session == session {
                    known.value.slots[index].ends = max(known.value.slots[index].ends, end)
                }
            }
        }
    }

    /// The store's state of an account, with this node's licenses from the time when the store was out.
    func merged(_ account: AccountState, at key: RecordKey) -> AccountState {
        guard let known = known.withLock({ $0.peek(key) }), known.isAhead else { return account }
        var account = account
        let stopped = Set(account.stopped.map(\.session))
        for slot in known.value.slots where !stopped.contains(slot.session) {
            guard let index = account.slots.firstIndex(where: { $0.session == slot.session }) else {
                account.slots.append(slot)
                continue
            }
            account.slots[index].ends = max(account.slots[index].ends, slot.ends)
        }
        account.devices.merge(known.value.devices, uniquingKeysWith: max)
        account.downloads.formUnion(known.value.downloads)
        account.firstPlays.merge(known.value.firstPlays, uniquingKeysWith: min)
        if let minute = known.value.minute, minute.began >= account.minute?.began ?? .distantPast {
            account.minute = minute
        }
        return account
    }
}
