package import Foundation
import LatchkeyCore
package import LatchkeySystem
package import LatchkeyVault

extension SQLiteStore {
    package func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount {
        let now = timekeeper.date
        let place: [SQLiteValue] = [.text(tenant), .text(kind.rawValue)]
        let most = Int64(clamping: min(max(0, most), Int.max - 1))
        return try await pages.read { connection throws(StoreError) in
            let kept = try connection.number(
                "SELECT coalesce(sum(number), 0) FROM counts WHERE tenant = ?1 AND kind = ?2 AND second > ?3",
                place + [.integer(CountedSeconds.second(now, .down))])
            // Records of a server version that kept no count.
            let others = try connection.rows(
                "SELECT bytes FROM records WHERE tenant = ?1 AND kind = ?2 AND counted IS NULL AND ends > ?3 LIMIT ?4",
                place + [.date(now), .integer(most + 1)]
            ) { row throws(StoreError) in ends(try row.bytes(0)).count { $0 > now } }
            let count = others.prefix(Int(most)).reduce(Int(clamping: kept), +)
            return RecordCount(count, isWhole: others.count <= most)
        }
    }
}

/// The ends of a record's counted things, in whole seconds since 1970. A thing counts to the end of its second.
struct CountedSeconds {
    let seconds: [Int64]

    init(_ ends: [Date]) { seconds = ends.map { Self.second($0, .up) } }

    /// - Parameter bytes: a value of `bytes`.
    init(bytes: [UInt8]) {
        seconds = stride(from: 0, to: bytes.count - 7, by: 8).map { start in
            Int64(bitPattern: bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
        }
    }

    /// Eight bytes for each, the highest first.
    var bytes: [UInt8] { seconds.flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } } }

    static func second(_ date: Date, _ rule: FloatingPointRoundingRule) -> Int64 {
        Int64(saturating: date.timeIntervalSince1970.rounded(rule))
    }
}

extension SQLiteConnection {
    /// How many seconds of the past are kept; a clock that is set back by less finds them again.
    private static let memory: Int64 = 3_600

    /// The counted things of a record; `nil` without a record, and for one that is not counted.
    func counted(at key: RecordKey) throws(StoreError) -> CountedSeconds? {
        try rows("SELECT counted FROM records WHERE tenant = ?1 AND kind = ?2 AND name = ?3", key.columns) {
            row throws(StoreError) in row.isNull(0) ? nil : CountedSeconds(bytes: try row.bytes(0))
        }.first ?? nil
    }

    /// Counts a record's current things, and no longer its former ones.
    func count(
        _ new: CountedSeconds?, insteadOf former: CountedSeconds?, _ key: RecordKey
    ) throws(StoreError) {
        var differences: [Int64: Int64] = [:]
        for second in new?.seconds ?? [] { differences[second, default: 0] += 1 }
        for second in former?.seconds ?? [] { differences[second, default: 0] -= 1 }
        for (second, difference) in differences where difference != 0 {
            try run(
                """
                INSERT INTO counts (second, tenant, kind, number) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (second, tenant, kind) DO UPDATE SET number = number + excluded.number
                """, [.integer(second), .text(key.tenant), .text(key.kind.rawValue), .integer(difference)])
        }
    }

    /// Forgets the counts of seconds that are long past.
    func forgetCounts(before now: Date) throws(StoreError) {
        try run("DELETE FROM counts WHERE second < ?1", [.integer(CountedSeconds.second(now, .down) - Self.memory)])
    }
}
