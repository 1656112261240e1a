import Foundation
import LatchkeyCore
import LatchkeySystem

/// One row of an engine's answer. Columns count from 0.
protocol StoredRow {
    /// The engine's name, for errors.
    var engine: String { get }
    func isNull(_ column: Int) -> Bool
    func bytes(_ column: Int) throws(StoreError) -> [UInt8]
    func integer(_ column: Int) throws(StoreError) -> Int64
    func date(_ column: Int) throws(StoreError) -> Date
    func flag(_ column: Int) throws(StoreError) -> Bool
}

extension StoredRow {
    /// The text of a column.
    /// - Throws: `storeDamaged` if it is not UTF-8.
    func text(_ column: Int) throws(StoreError) -> String {
        guard let text = String(validating: try bytes(column), as: UTF8.self) else { throw damaged(column) }
        return text
    }

    /// A 32-bit number, such as a data key's version.
    func version(_ column: Int) throws(StoreError) -> UInt32 {
        guard let version = UInt32(exactly: try integer(column)) else { throw damaged(column) }
        return version
    }

    /// A value made from the column.
    /// - Throws: `storeDamaged` if the column holds none.
    func value<Stored, Value>(
        _ column: Int, _ stored: Stored, _ make: (Stored) -> Value?
    ) throws(StoreError) -> Value {
        guard let value = make(stored) else { throw damaged(column) }
        return value
    }

    func damaged(_ column: Int) -> StoreError {
        StoreError(
            .damaged, engine, reason: "Column \(column + 1) of a row has a value that this server does not write.")
    }
}

/// Times in stores: whole microseconds in the years 1 to 9999.
enum StoredTime {
    /// From 1970 to 2000, the start of PostgreSQL's times.
    static let epochOfPostgreSQL: Int64 = 946_684_800_000_000

    static func microseconds(_ date: Date) -> Int64 {
        let seconds = date.timeIntervalSince1970
        return Int64((min(max(seconds.isNaN ? 0 : seconds, -62_135_596_800), 253_402_300_799) * 1_000_000).rounded())
    }

    static func date(microseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}
