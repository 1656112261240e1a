import Foundation
import LatchkeyCore
import LatchkeyEngines
import LatchkeyFairPlay
import LatchkeyOperation
import LatchkeyVault

/// Names that count once: sign-ins that are over, and sessions that were ended.
///
/// In the store of sessions, so on every node; and in this node's memory, which is all that is asked while the store is away.
final class SpentNames: Sendable {
    private let store: any RecordStore
    private let timekeeper: any Timekeeper
    private let log: ServerLog
    private let known = Locked(BoundedDictionary<String, Bool>(limit: 10_000))
    /// No tenant has such a name.
    private static let tenant = "~operators"
    /// How long the store may take.
    private static let patience = Duration.seconds(2)

    init(_ store: any RecordStore, _ log: ServerLog, timekeeper: any Timekeeper) {
        (self.store, self.log, self.timekeeper) = (store, log, timekeeper)
    }

    /// Spends a name.
    /// - Parameter life: how long it stays so.
    /// - Returns: false if it was spent before. A store that is away is logged, and this node alone says so.
    func spend(_ name: String, for life: Duration) async -> Bool {
        guard known.withLock({ $0.updateValue(true, forKey: name) }) == nil else { return false }
        let store = store
        return await asking(about: name) { key in
            let reading = try await store.read(key)
            guard reading.record == nil else { return false }
            return try await store.write(
                Record(version: reading.nextVersion, bytes: [1]), at: key, replacing: nil,
                until: reading.now.addingTimeInterval(life.inSeconds))
        } ?? true
    }

    /// Whether a name is spent. While the store is away, this node alone is asked.
    func isSpent(_ name: String) async -> Bool {
        if known.withLock({ $0[name] }) != nil { return true }
        let store = store
        return await asking(about: name) { try await store.read($0).record != nil } ?? false
    }

    private func asking(
        about name: String, _ question: @escaping @Sendable (RecordKey) async throws -> Bool
    ) async -> Bool? {
        do {
            let digest = try MessageDigest.sha256(Array(name.utf8)).hexString
            let key = RecordKey(.token, tenant: Self.tenant, name: digest)
            let slow = StoreError(
                .unavailable, store.engine, reason: "The store of sessions took longer than \(Self.patience.inWords).",
                remedy: "Look at the store.")
            return try await withDeadline(Self.patience, timekeeper, expired: { slow }) { try await question(key) }
        } catch {
            if let error = error as? any DiagnosableError { log.write(LogEntry(.admin, error, level: .warning)) }
            return nil
        }
    }
}
