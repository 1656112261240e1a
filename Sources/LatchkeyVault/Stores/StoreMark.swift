import Foundation
import LatchkeyCore
package import LatchkeySystem

/// A record that one node alone raises in a store, to see whether the store goes back.
package struct StoreMark: Sendable, Hashable {
    /// The name of the record: random, and the same as long as the node remembers the mark.
    package let name: String
    /// The record's version, in microseconds by the store's clock.
    package let version: UInt64

    package init(name: String, version: UInt64) { (self.name, self.version) = (name, version) }

    /// - Parameter text: `NAME:VERSION`; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let version = UInt64(parts[1]) else { return nil }
        self.init(name: String(parts[0]), version: version)
    }

    /// `NAME:VERSION`.
    package var text: String { "\(name):\(version)" }

    /// When the record was written, by the store's clock.
    fileprivate var date: Date { Date(timeIntervalSince1970: Double(version) / 1_000_000) }
}

/// A store whose age the audit does not show, because it is elsewhere.
package struct MarkedStore: Sendable {
    /// A mark is raised at most once in this time, and a store may lose that much unnoticed: a failover may, and a lazy write.
    static let interval = Duration.seconds(5)
    /// A node that was off for longer notices nothing.
    private static let life = Duration.seconds(7 * 86_400)

    /// Its name for the audit and for the node's copy, such as `sessions in eu`.
    package let name: String
    /// Whether it has the keys. It then counts as older even without the mark: an empty one is another database.
    package let hasKeys: Bool
    private let records: any RecordStore

    /// - Parameters:
    ///   - name: its name.
    ///   - hasKeys: whether it has the keys.
    ///   - records: the records of the store.
    package init(_ name: String, hasKeys: Bool = false, records: any RecordStore) {
        (self.name, self.hasKeys, self.records) = (name, hasKeys, records)
    }

    /// Compares the store with the newest mark that this node has seen there.
    /// - Parameters:
    ///   - mark: that mark; `nil` before the first one.
    ///   - remedy: how to accept the store as it is.
    /// - Returns: why the store is older; `nil` if it is not.
    /// - Throws: `StoreError` of the store.
    package func setback(behind mark: StoreMark?, accepting remedy: String) async throws(StoreError) -> StoreError? {
        guard let mark else { return nil }
        return setback(try await records.read(key(mark.name)), behind: mark, accepting: remedy)
    }

    /// Does the same, and raises the mark of a store that is not older.
    /// - Parameters:
    ///   - name: the name of the first mark.
    ///   - keep: takes the newest mark that is worth remembering.
    func raise(
        _ mark: StoreMark?, orBegin name: String, accepting remedy: String, keep: (StoreMark) -> Void
    ) async throws(StoreError) -> StoreError? {
        let name = mark?.name ?? name
        let reading = try await records.read(key(name))
        if let mark, let setback = setback(reading, behind: mark, accepting: remedy) { return setback }
        if let record = reading.record {
            let found = StoreMark(name: name, version: record.version)
            guard reading.now >= found.date + Self.interval.inSeconds else { return nil }
            keep(found)
        }
        // A store that takes no writes is reported by its health.
        _ = try? await records.write(
            Record(version: reading.nextVersion, bytes: [1]), at: key(name), replacing: reading.record?.version,
            until: reading.now + Self.life.inSeconds)
        return nil
    }

    private func key(_ name: String) -> RecordKey { RecordKey(.usage, tenant: "-", name: "age-\(name)") }

    private func setback(_ reading: RecordReading, behind mark: StoreMark, accepting remedy: String) -> StoreError? {
        guard reading.now < mark.date + Self.life.inSeconds else { return nil }
        guard let record = reading.record else { return hasKeys ? older("is gone", remedy) : nil }
        guard record.version < mark.version else { return nil }
        let seconds = (mark.version - record.version) / 1_000_000
        return older("is \(Duration.seconds(Int64(clamping: seconds)).inWords) older than the last one", remedy)
    }

    private func older(_ difference: String, _ remedy: String) -> StoreError {
        let (subject, effect) =
            hasKeys
            ? ("The key database is", "Keys that are disabled on this node stay disabled.")
            : ("The stored \(name) are", "Accounts may have more than their limits.")
        return StoreError(
            .misconfigured, records.engine,
            reason:
                "\(subject) older than this node's last view of \(hasKeys ? "it" : "them"): this node's mark there \(difference). \(effect)",
            remedy: "Restore the newer state. If this one is right, \(remedy).")
    }
}
