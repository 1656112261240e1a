import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySystem

/// The current key encryption key, and other known ones: the previous and the next.
///
/// All tenants of a node share one. Every known key unwraps; only the current one wraps. Data keys are wrapped again only on request, by
/// `rewrap`, never because a node has another key: the other nodes have to open the stored ones, too.
///
/// Source: `Documentation/LicenseServer.md` §8.2.
package final class KeyEncryptionKeys: Sendable {
    private struct State {
        var current: KeyEncryptionKey
        var all: [String: KeyEncryptionKey]
    }

    private let state: Locked<State>

    /// - Parameters:
    ///   - current: the key that wraps.
    ///   - known: keys that wrapped data keys, here or on another node. Defaults to none.
    package init(_ current: KeyEncryptionKey, known: [KeyEncryptionKey] = []) {
        let all = Dictionary((known + [current]).map { ($0.id, $0) }) { $1 }
        state = Locked(State(current: current, all: all))
    }

    /// The key that wraps.
    package var current: KeyEncryptionKey { state.withLock { $0.current } }

    /// Wraps with another key from now on. The previous key can still unwrap.
    package func use(_ key: KeyEncryptionKey) {
        state.withLock { state in
            state.current = key
            state.all[key.id] = key
        }
    }

    /// Opens a tenant's data key with the key that it names.
    /// - Throws: the errors of `KeyEncryptionKey.unwrap`; `anotherKey` for an unknown key.
    package func open(_ row: WrappedDataKey) throws(VaultError) -> DataKey {
        let (named, current) = state.withLock { ($0.all[row.wrapper], $0.current) }
        return try (named ?? current).unwrap(row)
    }

    /// Wraps all tenants' data keys with the current key. Content keys are not touched, so the time grows with the number of tenants.
    ///
    /// May be interrupted and called again, and may run on several nodes at the same time.
    /// - Returns: how many were wrapped again; 0 means that no former key is needed any more.
    /// - Throws: the error of opening one; the ones before it are done.
    @discardableResult
    package func rewrap(in store: any KeyStore) async throws(VaultError) -> Int {
        let new = current
        var generator = CryptographicGenerator()
        var count = 0
        for row in try await VaultError.asking({ () throws(StoreError) in try await store.dataKeys() })
        where row.wrapper != new.id {
            let wrapped = try new.wrap(open(row), using: &generator)
            let isDone = try await VaultError.asking { () throws(StoreError) in
                try await store.put(wrapped, replacing: row.wrapper)
            }
            if isDone { count += 1 }
        }
        return count
    }
}
