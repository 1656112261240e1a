import Foundation
import LatchkeyCore

/// The index of a store, kept in memory and changed in transactions. For one task at a time.
final class KeyIndex: Sendable {
    private let store: any PersistableKeyStore
    /// `nil` until it is read, and after a write with an unknown outcome.
    private let current = Locked<OfflineIndex?>(nil)

    init(_ store: any PersistableKeyStore) { self.store = store }

    /// The index. If it is not in memory, it is read from the store, and keys that a crash left behind are removed.
    /// - Parameter date: the date of a new index.
    func index(_ date: Date) async throws(OfflineError) -> OfflineIndex {
        if let index = current.withLock({ $0 }) { return index }
        let index = try await bytes(of: .index).map(OfflineIndex.init(file:)) ?? OfflineIndex(latest: date)
        await sweep(keeping: index.items)
        current.withLock { $0 = index }
        return index
    }

    /// The bytes of an item, or `nil`.
    func bytes(of item: StoredItem) async throws(OfflineError) -> Secret? {
        do { return try await store.bytes(of: item) } catch {
            throw OfflineError(error, otherwise: .keyStoreUnreadable)
        }
    }

    /// Replaces the index: writes new keys, then the index that names them, then removes the keys that it no longer names.
    func commit(_ index: OfflineIndex, adding keys: [StoredItem: Secret]) async throws(OfflineError) {
        let old = current.withLock { current in
            // If a write fails, only the store knows whether it happened: read it again.
            defer { current = nil }
            return current
        }
        let file = try index.file()
        do {
            for (item, bytes) in keys { try await store.write(bytes, to: item) }
            try await store.write(file, to: .index)
        } catch {
            throw OfflineError(error, otherwise: .keyStoreUnwritable)
        }
        current.withLock { $0 = index }
        await remove(old?.items.subtracting(index.items) ?? [])
    }

    /// Removes everything, including an index that cannot be read.
    func removeAll() async throws(OfflineError) {
        current.withLock { $0 = nil }
        do {
            // Without an index nothing else counts, so a crash after this line leaves an empty store.
            try await store.remove(.index)
            for item in try await store.items() { try await store.remove(item) }
        } catch {
            throw OfflineError(error, otherwise: .keyStoreUnwritable)
        }
    }

    private func sweep(keeping items: Set<StoredItem>) async {
        guard let all = try? await store.items() else { return }
        await remove(all.subtracting(items).subtracting([.index]))
    }

    /// The change is made already: items that cannot be removed now are removed when the index is next read.
    private func remove(_ items: Set<StoredItem>) async {
        for item in items { try? await store.remove(item) }
    }
}
