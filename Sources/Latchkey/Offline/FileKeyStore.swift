public import Foundation
public import LatchkeyCore

/// Keys in the files of a dedicated folder: readable by the user alone, kept out of backups, each written whole or not at all.
///
/// Nothing is touched before the first key is requested. The work runs on the store's own queue, as a disk may take its time; a cancelled
/// task stops waiting, and the store still finishes work that it has begun. Use one store per folder at a time, in one process.
public final class FileKeyStore: PersistableKeyStore {
    private let files: KeyFiles
    private let queue = DispatchQueue(label: "latchkey.key-store", qos: .userInitiated)

    /// When the system allows the files to be read. It applies to Apple's mobile systems only.
    public enum Protection: Sendable, Hashable {
        /// After the first unlock since the device started: required for background playback and renewal.
        case afterFirstUnlock
        /// While the device is unlocked.
        case whileUnlocked
    }

    /// - Parameters:
    ///   - folder: a dedicated folder, which need not exist; in the application support folder, as the system empties caches.
    ///   - protection: when the files can be read.
    public convenience init(folder: URL, protection: Protection = .afterFirstUnlock) {
        self.init(folder: folder, protection: protection, before: { _ in })
    }

    /// - Parameters:
    ///   - system: the system calls, for tests that watch their order.
    ///   - step: called before each step, for tests that end the process there.
    package init(
        folder: URL, protection: Protection = .afterFirstUnlock, system: FileCalls = FileCalls(),
        before step: @escaping @Sendable (FileStep) -> Void
    ) {
        files = KeyFiles(folder: folder, protection: protection, system: system, willDo: step)
    }

    public func items() async throws -> Set<StoredItem> { try await onQueue { try $0.items() } }

    public func bytes(of item: StoredItem) async throws -> Secret? { try await onQueue { try $0.bytes(of: item) } }

    public func write(_ bytes: Secret, to item: StoredItem) async throws {
        try await onQueue { try $0.write(bytes, to: item) }
    }

    public func remove(_ item: StoredItem) async throws { try await onQueue { try $0.remove(item) } }

    private func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable (KeyFiles) throws -> Value
    ) async throws -> Value {
        // The result passes through a lock, as the thread sanitizer does not see the runtime's own order of things where the queue
        // is done before the caller waits (`swift_continuation_await`).
        let passed = Locked<Result<Value, any Error>?>(nil)
        try await Promise<Void, any Error>.value { done in
            queue.async { [files] in
                let result = Result { try body(files) }
                passed.withLock { $0 = result }
                done.resolve(.success(()))
            }
        }
        guard let result = passed.withLock({ $0 }) else { throw OfflineError(.keyStoreUnreadable, "Nothing was done.") }
        return try result.get()
    }
}

/// A step that changes the disk.
package enum FileStep: Sendable {
    /// The folder is created, or made private.
    case setUpFolder
    /// A file is opened for writing.
    case create(StoredItem)
    /// Bytes are written to the open file.
    case write(Secret, Int32)
    /// The file's bytes are written to the disk.
    case synchronize(StoredItem)
    /// The file replaces the old one.
    case rename(StoredItem)
    /// The folder's names are written to the disk.
    case synchronizeFolder
    /// A file is removed.
    case remove(StoredItem)
}
