import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem
import LatchkeyVault

/// A node's memory of the accounts that it licensed last: it enforces limits while their store is out of service.
///
/// Each node has its own memory, so in an outage an account gets at most its limit from each node that it asks.
///
/// Source: `Documentation/LicenseServer.md` §7.1.
final class AccountMemory: Sendable {
    private struct Known {
        var account: AccountState
        /// Whether it has licenses that the store does not know.
        var isAhead: Bool
        /// Changes with each license that the store does not know of.
        var version: UInt64
    }

    /// The most accounts that are remembered: some 60 MB.
    private static let most = 100_000
    private let known = Locked(RecentValues<RecordKey, Known>(limit: most))

    /// The account as far as this node knows it, and the version for `replace`.
    func account(_ key: RecordKey) -> (account: AccountState, version: UInt64) {
        let known = known.withLock { $0.value(key) }
        return (known?.account ?? AccountState(), known?.version ?? 0)
    }

    /// Notes the store's state. State ahead of the store stays until the store holds it.
    func note(_ account: AccountState, at key: RecordKey, isWritten: Bool) {
        known.withLock { known in
            let former = known.peek(key)
            guard isWritten || former?.isAhead != true else { return }
            known.set(Known(account: account, isAhead: false, version: (former?.version ?? 0) &+ 1), for: key)
        }
    }

    func forget(_ key: RecordKey) { known.withLock { $0.remove(key) } }

    /// Notes a license that the store does not learn of.
    /// - Returns: whether the account was unchanged meanwhile.
    func replace(_ version: UInt64, with account: AccountState, at key: RecordKey) -> Bool {
        known.withLock { known in
            guard known.peek(key)?.version ?? 0 == version else { return false }
            known.set(Known(account: account, isAhead: true, version: version &+ 1), for: key)
            return true
        }
    }

    /// A slot that the store extended.
    func extend(_ session: String, at key: RecordKey, until end: Date) {
        known.withLock { known in
            known.update(key) { known in
                for index in known.account.slots.indices where known.account.slots[index].session == session {
                    known.account.slots[index].ends = max(known.account.slots[index].ends, end)
                }
            }
        }
    }

    /// The store's state of an account, with this node's licenses from the time when the store was out.
    func merged(_ account: AccountState, at key: RecordKey) -> AccountState {
        guard let known = known.withLock({ $0.peek(key) }), known.isAhead else { return account }
        var account = account
        let stopped = Set(account.stopped.map(\.session))
        for slot in known.account.slots where !stopped.contains(slot.session) {
            guard let index = account.slots.firstIndex(where: { $0.session == slot.session }) else {
                account.slots.append(slot)
                continue
            }
            account.slots[index].ends = max(account.slots[index].ends, slot.ends)
        }
        account.devices.merge(known.account.devices, uniquingKeysWith: max)
        account.downloads.formUnion(known.account.downloads)
        account.firstPlays.merge(known.account.firstPlays, uniquingKeysWith: min)
        if let minute = known.account.minute, minute.began >= account.minute?.began ?? .distantPast {
            account.minute = minute
        }
        return account
    }
}
