import CPostgreSQL
import Foundation
import LatchkeyCore
import LatchkeySystem

/// A value for a statement, in PostgreSQL's binary form: big-endian numbers, times from 2000.
struct PostgreSQLValue: Sendable {
    /// The types in the tables. The raw values are PostgreSQL's own and never change.
    enum ColumnType: Oid, Sendable {
        case flag = 16
        case bytes = 17
        case integer = 20
        case text = 25
        case time = 1184
        case uuid = 2950

        /// The type of an array of these.
        fileprivate var array: Oid {
            switch self {
            case .flag: 1000
            case .bytes: 1001
            case .integer: 1016
            case .text: 1009
            case .time: 1185
            case .uuid: 2951
            }
        }
    }

    let type: Oid
    /// `nil` for NULL.
    let bytes: [UInt8]?

    private init(_ kind: ColumnType, _ bytes: some Sequence<UInt8>) {
        type = kind.rawValue
        self.bytes = Array(bytes)
    }

    private init(type: Oid, bytes: [UInt8]?) {
        self.type = type
        self.bytes = bytes
    }

    static func flag(_ flag: Bool) -> Self { Self(.flag, [flag ? 1 : 0]) }
    static func bytes(_ bytes: some Sequence<UInt8>) -> Self { Self(.bytes, bytes) }
    static func integer(_ number: Int64) -> Self { Self(.integer, number.bigEndianBytes) }
    static func version(_ version: UInt32) -> Self { .integer(Int64(version)) }
    static func text(_ text: String) -> Self { Self(.text, text.utf8) }
    /// 16 bytes.
    static func uuid(_ bytes: some Sequence<UInt8>) -> Self { Self(.uuid, bytes) }
    static func null(_ kind: ColumnType) -> Self { Self(type: kind.rawValue, bytes: nil) }

    static func date(_ date: Date) -> Self {
        Self(.time, (StoredTime.microseconds(date) - StoredTime.epochOfPostgreSQL).bigEndianBytes)
    }

    /// An array of one dimension, of values of one kind.
    static func array(_ kind: ColumnType, _ values: [Self]) -> Self {
        let hasNull = values.contains { $0.bytes == nil }
        var bytes = [Int32(values.isEmpty ? 0 : 1), hasNull ? 1 : 0, Int32(bitPattern: kind.rawValue)].flatMap(
            \.bigEndianBytes)
        if !values.isEmpty { bytes += [Int32(clamping: values.count), 1].flatMap(\.bigEndianBytes) }
        for value in values {
            bytes += Int32(clamping: value.bytes?.count ?? -1).bigEndianBytes
            bytes += value.bytes ?? []
        }
        return Self(type: kind.array, bytes: bytes)
    }
}

/// A statement with its values. It is prepared under its name when a connection first runs it.
struct PostgreSQLCall: Sendable {
    /// A name that always has the same text.
    let name: String
    let sql: String
    let values: [PostgreSQLValue]

    init(_ name: String, _ sql: String, _ values: [PostgreSQLValue] = []) {
        self.name = name
        self.sql = sql
        self.values = values
    }
}

/// The answer to a statement.
struct PostgreSQLAnswer: Sendable {
    let rows: [PostgreSQLRow]
    /// The number of changed or returned rows.
    let count: Int
}

/// One row, in binary form.
struct PostgreSQLRow: StoredRow, Sendable {
    let fields: [[UInt8]?]

    var engine: String { PostgreSQLStore.name }

    func isNull(_ column: Int) -> Bool { !fields.indices.contains(column) || fields[column] == nil }

    func bytes(_ column: Int) throws(StoreError) -> [UInt8] {
        guard fields.indices.contains(column), let bytes = fields[column] else { throw damaged(column) }
        return bytes
    }

    func integer(_ column: Int) throws(StoreError) -> Int64 {
        let bytes = try bytes(column)
        guard bytes.count == 8 else { throw damaged(column) }
        return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    func date(_ column: Int) throws(StoreError) -> Date {
        let (microseconds, isBeyond) = try integer(column).addingReportingOverflow(StoredTime.epochOfPostgreSQL)
        guard !isBeyond else { throw damaged(column) }
        return StoredTime.date(microseconds: microseconds)
    }

    func flag(_ column: Int) throws(StoreError) -> Bool { try bytes(column) == [1] }
}

extension FixedWidthInteger {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
