public import Latchkey
public import LatchkeyCore

/// A store of keys in memory, which fails when a test says so.
public final class MemoryKeyStore: PersistableKeyStore {
    private struct State {
        var items: [StoredItem: Secret] = [:]
        var writes: [StoredItem] = []
        var readError: OfflineError?
        var writeError: OfflineError?
    }

    private let state = Locked(State())

    /// Makes an empty store.
    public init() {}

    /// The stored items.
    public var contents: [StoredItem: Secret] { state.withLock { $0.items } }

    /// The items that were written, in order.
    public var writes: [StoredItem] { state.withLock { $0.writes } }

    /// Makes every read or listing of an item fail from now on; `nil` lets them succeed again.
    public func failReads(_ error: OfflineError?) { state.withLock { $0.readError = error } }

    /// Makes every write and removal fail from now on; `nil` lets them succeed again.
    public func failWrites(_ error: OfflineError?) { state.withLock { $0.writeError = error } }

    /// Adds an item as if it had been written before.
    public func put(_ bytes: Secret?, at item: StoredItem) { state.withLock { $0.items[item] = bytes } }

    public func items() throws -> Set<StoredItem> {
        try state.withLock { state in
            if let error = state.readError { throw error }
            return Set(state.items.keys)
        }
    }

    public func bytes(of item: StoredItem) throws -> Secret? {
        try state.withLock { state in
            if let error = state.readError { throw error }
            return state.items[item]
        }
    }

    public func write(_ bytes: Secret, to item: StoredItem) throws {
        try state.withLock { state in
            if let error = state.writeError { throw error }
            state.items[item] = bytes
            state.writes.append(item)
        }
    }

    public func remove(_ item: StoredItem) throws {
        try state.withLock { state in
            if let error = state.writeError { throw error }
            state.items[item] = nil
        }
    }
}
