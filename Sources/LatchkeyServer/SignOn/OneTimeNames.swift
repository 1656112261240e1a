import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault

/// Names that count once: sign-ins that are over, and sessions that were ended.
///
/// In the store of sessions, so on every node; and in this node's memory, the only source while the store is away. Sessions have a separate
/// memory: anyone can begin sign-ins, but no number of them makes the node forget an ended session.
final class OneTimeNames: Sendable {
    /// A name to spend.
    enum Name: Sendable, Hashable {
        /// The state of a sign-in.
        case signIn(String)
        /// The identifier of a session.
        case session(String)

        /// The text whose digest the store has; nodes of another version use the same.
        fileprivate var text: String {
            switch self {
            case .signIn(let state): "state:\(state)"
            case .session(let identifier): "session:\(identifier)"
            }
        }
    }

    private let records: GuardedRecords
    private let signIns, sessions: Locked<BoundedDictionary<String, Bool>>
    /// No tenant has such a name.
    private static let tenant = "~operators"
    /// How long the store may take.
    private static let patience = Duration.seconds(2)

    /// - Parameters:
    ///   - store: the store of sessions.
    ///   - limit: how many sign-ins the node remembers, and how many sessions. Defaults to 10,000 of each.
    init(_ store: any RecordStore, _ log: ServerLog, timekeeper: any Timekeeper, limit: Int = 10_000) {
        records = GuardedRecords(
            store, for: .sessionStore, RecordStoreLimits(time: Self.patience), timekeeper: timekeeper)
        // Once until it answers: readers of events ask each second.
        for part in records.parts {
            part.health.whenChanged { _, standing in
                guard standing.isAway, let error = standing.lastError else { return }
                log.write(LogEntry(.admin, error, level: .warning))
            }
        }
        signIns = Locked(BoundedDictionary(limit: limit))
        sessions = Locked(BoundedDictionary(limit: limit))
    }

    /// Spends a name.
    /// - Parameter life: how long it stays so.
    /// - Returns: false if it was spent before. If the store is away, that is logged, and this node alone decides.
    func spend(_ name: Name, for life: Duration) async -> Bool {
        guard known(name).withLock({ $0.updateValue(true, forKey: name.text) }) == nil else { return false }
        guard let key = key(name), let reading = try? await records[key].read(key) else { return true }
        guard reading.record == nil else { return false }
        return
            (try? await records[key].write(
                Record(version: reading.nextVersion, bytes: [1]), at: key, replacing: nil,
                until: reading.now.addingTimeInterval(life.inSeconds))) ?? true
    }

    /// Whether a name is spent. While the store is away, this node alone is asked.
    func isSpent(_ name: Name) async -> Bool {
        if known(name).withLock({ $0[name.text] }) != nil { return true }
        guard let key = key(name), let reading = try? await records[key].read(key) else { return false }
        return reading.record != nil
    }

    private func key(_ name: Name) -> RecordKey? {
        let digest = try? MessageDigest.sha256(Array(name.text.utf8)).hexString
        return digest.map { RecordKey(.token, tenant: Self.tenant, name: $0) }
    }

    /// The memory of a name's kind.
    private func known(_ name: Name) -> Locked<BoundedDictionary<String, Bool>> {
        switch name {
        case .signIn: signIns
        case .session: sessions
        }
    }
}
