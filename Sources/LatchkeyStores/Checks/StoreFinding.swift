import Foundation
import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

/// A finding of a store check that needs attention. Holds no password.
package struct StoreFinding: Sendable, Hashable {
    /// Whether the store cannot be used as it is.
    package let isFault: Bool
    /// The problem, in one sentence.
    package let reason: String
    /// The remedy, one imperative sentence.
    package let remedy: String
    /// The part that answers no reads; `nil` for none. Every later one would wait for its limit and repeat this finding.
    package var outage: EngineRole?

    static func fault(_ reason: String, _ remedy: String) -> Self {
        Self(isFault: true, reason: reason, remedy: remedy)
    }

    static func fault(_ error: StoreError, at place: String? = nil) -> Self {
        .fault(place.map { "\($0): \(error.reason)" } ?? error.reason, error.remedy)
    }

    static func notice(_ reason: String, _ remedy: String) -> Self {
        Self(isFault: false, reason: reason, remedy: remedy)
    }
}

extension StoreFinding {
    /// How far a store's clock may differ from this machine's.
    private static let clockLimit: TimeInterval = 2

    /// A notice if the clocks differ.
    /// - Parameters:
    ///   - clock: the store's time, from an answer between the two times of this machine.
    static func clock(_ clock: Date, between start: Date, and end: Date) -> [StoreFinding] {
        let (ahead, behind) = (clock.timeIntervalSince(end), start.timeIntervalSince(clock))
        let (difference, word) = ahead > 0 ? (ahead, "ahead of") : (behind, "behind")
        guard difference > clockLimit else { return [] }
        return [
            .notice(
                "Its clock is \(Int(difference.rounded())) s \(word) this machine's.",
                "Synchronize both with the same time server.")
        ]
    }
}

/// The data that a configuration keeps in a store.
package enum StoreUse: String, Sendable, CaseIterable {
    case sessions, keys, audit
}

extension Stores {
    /// Checks whether a database or Redis can be used, without changing it: whom it answers, in which role, with which rights and settings;
    /// and whether a file is whole. A file's permissions are checked when it is opened.
    /// - Parameters:
    ///   - address: the store's address.
    ///   - uses: the data kept there.
    package static func findings(at address: StoreAddress, for uses: Set<StoreUse>) async -> [StoreFinding] {
        switch address {
        case .memory: return []
        case .sqlite(let path): return await onThread { SQLiteCheck.findings(at: path) }
        case .postgresql(let address): return await PostgreSQLStore.findings(at: address, for: uses)
        case .redis(let address):
            do throws(StoreError) {
                let address = try RedisAddress(address)
                return await onThread { RedisCheck(address).findings() }
            } catch {
                return [.fault(error)]
            }
        }
    }

    /// Checks on a separate thread, which waits for files, sockets and names.
    private static func onThread(_ look: @escaping @Sendable () -> [StoreFinding]) async -> [StoreFinding] {
        await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: look()) }
        }
    }

    /// Checks whether a node's own copy could be kept in a file, without changing it.
    /// - Returns: the newest entry of the audit that the node has seen, `nil` if it knows none; and the marks of other stores.
    /// - Throws: `StoreError`.
    package static func checkCopy(
        at path: String
    ) throws(StoreError) -> (seen: AuditAnchor?, marks: [String: StoreMark]) {
        try SQLiteFile.checkRoom(of: path)
        guard FileManager.default.fileExists(atPath: path) else {
            try SQLiteFile.checkFolder(of: path)
            return (nil, [:])
        }
        try SQLiteFile.prepare(path, for: .checking)
        let connection = try SQLiteConnection(path: path, busy: .seconds(5), for: .checking)
        try SQLiteSchema.copy.check(connection)
        // An earlier version kept none.
        func isKept(_ table: String) throws(StoreError) -> Bool {
            try connection.number("SELECT count(*) FROM sqlite_schema WHERE name = '\(table)'") > 0
        }
        return (
            try isKept("seen") ? SQLiteNodeCopy.seen(connection) : nil,
            try isKept("marks") ? SQLiteNodeCopy.marks(connection) : [:]
        )
    }
}
