import Foundation
import LatchkeyCore

/// The index of a store in memory, and changes to it as transactions. One task at a time.
final class KeyShelf: Sendable {
    private let store: any PersistableKeyStore
    /// Nil until it is read, and after a write whose outcome is not known.
    private let current = Locked<OfflineIndex?>(nil)

    init(_ store: any PersistableKeyStore) { self.store = store }

    /// The index; read from the store where it is not in memory, and then what a crash left behind is removed.
    /// - Parameter date: what an index without a past begins with.
    func index(_ date: Date) async throws(OfflineError) -> OfflineIndex {
        if let index = current.withLock({ $0 }) { return index }
        let index = try await bytes(of: .index).map(OfflineIndex.init(file:)) ?? OfflineIndex(latest: date)
        await sweep(keeping: index.items)
        current.withLock { $0 = index }
        return index
    }

    /// The bytes of an item; nil where there is none.
    func bytes(of item: StoredItem) async throws(OfflineError) -> Secret? {
        do { return try await store.bytes(of: item) } catch { throw OfflineError(error, otherwise: .storeUnreadable) }
    }

    /// Makes one index follow another: the new keys, then the index that names them, then the keys that it names no more.
    func commit(_ index: OfflineIndex, adding keys: [StoredItem: Secret]) async throws(OfflineError) {
        let old = current.withLock { current in
            // Where a write fails, only the store knows whether it took place: read it again.
            defer { current = nil }
            return current
        }
        let file = try index.file()
        do {
            for (item, bytes) in keys { try await store.write(bytes, to: item) }
            try await store.write(file, to: .index)
        } catch {
            throw OfflineError(error, otherwise: .storeUnwritable)
        }
        current.withLock { $0 = index }
        await remove(old?.items.subtracting(index.items) ?? [])
    }

    /// Removes everything, an index that cannot be read included.
    func removeAll() async throws(OfflineError) {
        current.withLock { $0 = nil }
        do {
            // Without an index nothing else counts, so that a crash behind this line leaves an empty store.
            try await store.remove(.index)
            for item in try await store.items() { try await store.remove(item) }
        } catch {
            throw OfflineError(error, otherwise: .storeUnwritable)
        }
    }

    private func sweep(keeping items: Set<StoredItem>) async {
        guard let all = try? await store.items() else { return }
        await remove(all.subtracting(items).subtracting([.index]))
    }

    /// The change is made already: what cannot be removed now is swept when the index is next read.
    private func remove(_ items: Set<StoredItem>) async {
        for item in items { try? await store.remove(item) }
    }
}
