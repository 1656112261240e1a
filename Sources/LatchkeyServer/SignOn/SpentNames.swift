import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyOperation
import LatchkeySystem
import LatchkeyVault

/// Names that count once: sign-ins that are over, and sessions that were ended.
///
/// In the store of sessions, so on every node; and in this node's memory, which is all that is asked while the store is away. Sessions have a
/// memory of their own: anybody can begin sign-ins, and however many they are, no ended session is forgotten for them.
final class SpentNames: Sendable {
    /// What is spent.
    enum Name: Sendable, Hashable {
        /// The state of a sign-in.
        case signIn(String)
        /// The identifier of a session.
        case session(String)

        /// What the store has its digest of; nodes of another version ask for the same.
        fileprivate var text: String {
            switch self {
            case .signIn(let state): "state:\(state)"
            case .session(let identifier): "session:\(identifier)"
            }
        }
    }

    private let store: any RecordStore
    private let timekeeper: any Timekeeper
    private let log: ServerLog
    private let signIns, sessions: Locked<BoundedDictionary<String, Bool>>
    private let isAway = Locked(false)
    /// No tenant has such a name.
    private static let tenant = "~operators"
    /// How long the store may take.
    private static let patience = Duration.seconds(2)

    /// - Parameters:
    ///   - store: the store of sessions.
    ///   - limit: how many sign-ins the node remembers, and how many sessions. Defaults to 10,000 of each.
    init(_ store: any RecordStore, _ log: ServerLog, timekeeper: any Timekeeper, limit: Int = 10_000) {
        (self.store, self.log, self.timekeeper) = (store, log, timekeeper)
        signIns = Locked(BoundedDictionary(limit: limit))
        sessions = Locked(BoundedDictionary(limit: limit))
    }

    /// Spends a name.
    /// - Parameter life: how long it stays so.
    /// - Returns: false if it was spent before. A store that is away is logged, and this node alone says so.
    func spend(_ name: Name, for life: Duration) async -> Bool {
        guard known(name).withLock({ $0.updateValue(true, forKey: name.text) }) == nil else { return false }
        let store = store
        return await asking(about: name.text) { key in
            let reading = try await store.read(key)
            guard reading.record == nil else { return false }
            return try await store.write(
                Record(version: reading.nextVersion, bytes: [1]), at: key, replacing: nil,
                until: reading.now.addingTimeInterval(life.inSeconds))
        } ?? true
    }

    /// Whether a name is spent. While the store is away, this node alone is asked.
    func isSpent(_ name: Name) async -> Bool {
        if known(name).withLock({ $0[name.text] }) != nil { return true }
        let store = store
        return await asking(about: name.text) { try await store.read($0).record != nil } ?? false
    }

    /// The memory of a name's kind.
    private func known(_ name: Name) -> Locked<BoundedDictionary<String, Bool>> {
        switch name {
        case .signIn: signIns
        case .session: sessions
        }
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
            let answer = try await withDeadline(Self.patience, timekeeper, expired: { slow }) {
                try await question(key)
            }
            isAway.withLock { $0 = false }
            return answer
        } catch {
            // Once until it answers: who reads events asks each second.
            let isNews = isAway.withLock { isAway in
                defer { isAway = true }
                return !isAway
            }
            if isNews, let error = error as? any DiagnosableError {
                log.write(LogEntry(.admin, error, level: .warning))
            }
            return nil
        }
    }
}
