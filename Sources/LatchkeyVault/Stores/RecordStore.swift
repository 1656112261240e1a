public import Foundation
import LatchkeyCore
public import LatchkeySystem

/// Stores small records that several nodes change concurrently: accounts with their slots, and used tokens.
///
/// No lock is held. To change a record, a node reads it, decides, and writes it with a higher version, on the condition that no other
/// node wrote it meanwhile; otherwise it starts again. So the decision stays a function, and is the same on every engine.
///
/// The server stays within the names, records and limits stated here.
///
/// Source: `Documentation/LicenseServer.md` §7.
public protocol RecordStore: StoreEngine {
    /// Reads a record, with the engine's clock.
    /// - Throws: `StoreError`.
    func read(_ key: RecordKey) async throws(StoreError) -> RecordReading

    /// Writes a record unless another node wrote it meanwhile.
    /// - Parameters:
    ///   - record: the bytes with their version, which is higher than the replaced one's.
    ///   - key: the record's key.
    ///   - replaced: the version that was read; `nil` if there was no record.
    ///   - end: the time, by the engine's clock, from which the record is treated as missing and may be deleted.
    ///   - ends: the end of each item that `count` counts in the record, such as a slot.
    /// - Returns: false if the record has another version by now, and nothing was written.
    /// - Throws: `StoreError`; then it is unknown whether the record was written. With `storeUnfit` it was not.
    func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool

    /// Removes a record if it still has the version.
    /// - Returns: false if it has another version, or does not exist.
    /// - Throws: `StoreError`.
    func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool

    /// The records of a tenant whose names begin with a prefix, in the byte order of their names. For operators, not for licenses.
    /// - Parameters:
    ///   - kind: the kind of records.
    ///   - tenant: the tenant.
    ///   - prefix: the names' prefix; empty means all.
    ///   - name: only names after this one; `nil` for the first page.
    ///   - limit: the maximum number of records, 1 to 1,000.
    /// - Throws: `StoreError`; `storeUnfit` from an engine that keeps no list of the kind. Accounts are always listed.
    func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord]

    /// The number of a tenant's items that have not ended, by the engine's clock. For operators, not for licenses.
    ///
    /// Writes maintain the count. Only records of earlier server versions without counts are read.
    /// - Parameters:
    ///   - kind: the kind of records.
    ///   - tenant: the tenant.
    ///   - most: the approximate maximum number of records without a count to read.
    ///   - ends: the ends of the counted items in such a record's bytes. Called on any thread; must not wait.
    /// - Throws: `StoreError`.
    func count(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ ends: @escaping @Sendable ([UInt8]) -> [Date]
    ) async throws(StoreError) -> RecordCount
}

/// A count over records.
public struct RecordCount: Sendable, Hashable {
    /// How many things there are, or at least so many.
    public let value: Int
    /// Whether all records count in it. Otherwise there are at least so many things.
    public let isWhole: Bool

    /// A count, and whether all records are in it.
    public init(_ value: Int, isWhole: Bool) {
        self.value = value
        self.isWhole = isWhole
    }
}

extension RecordStore {
    /// Writes a record in which nothing counts.
    package func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date
    ) async throws(StoreError) -> Bool {
        try await write(record, at: key, replacing: replaced, until: end, counting: [])
    }
}

/// The key of a record. Names are compared byte for byte: two Unicode forms of a letter are two names, in every engine.
public struct RecordKey: Sendable, Hashable {
    /// The kinds of records. Stores contain the raw values.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An account: slots, devices, downloads. The name is the account's.
        case account
        /// A used token. The name is a digest.
        case token
        /// A tenant's use of a limit, such as a day's licenses. The name identifies the limit.
        case usage
    }

    /// The kind of record.
    public let kind: Kind
    /// The tenant's name, 1 to 64 bytes without a NUL.
    public let tenant: String
    /// The record's name, 1 to 512 bytes without a NUL.
    public let name: String
    /// The account whose record it is, where the name does not say it: records of one account are kept in one region. No part of the place.
    package let owner: String?

    /// The key of a record.
    public init(_ kind: Kind, tenant: String, name: String) {
        self.init(kind, tenant: tenant, name: name, owner: nil)
    }

    package init(_ kind: Kind, tenant: String, name: String, owner: String?) {
        self.kind = kind
        self.tenant = tenant
        self.name = name
        self.owner = owner
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.kind == other.kind && one.tenant.equalsByteForByte(other.tenant) && one.name.equalsByteForByte(other.name)
    }

    public func hash(into hasher: inout Hasher) {
        // Canonically equal texts have equal hashes, so this agrees with `==`, and those few share a bucket.
        hasher.combine(kind)
        hasher.combine(tenant)
        hasher.combine(name)
    }
}

/// The contents of a record, and their version.
public struct Record: Sendable, Hashable {
    /// Rises with each change. It comes from the engine's clock (microseconds since 1970, or one more than before), so that it rises even
    /// after the record was deleted: a counter would start over.
    public let version: UInt64
    /// At most 256 KiB.
    public let bytes: [UInt8]

    /// A record as written to or read from a store.
    public init(version: UInt64, bytes: [UInt8]) {
        self.version = version
        self.bytes = bytes
    }
}

/// A store's answer.
public struct RecordReading: Sendable, Hashable {
    /// The record; `nil` if it does not exist or has ended.
    public let record: Record?
    /// Now, by the engine's clock. Nodes' clocks differ; this one counts.
    public let now: Date
    /// Whether the reading is the node's own knowledge, not the store's answer.
    package let isGuess: Bool

    /// An answer, with the engine's time.
    public init(record: Record?, now: Date) { self.init(record: record, now: now, isGuess: false) }

    package init(record: Record?, now: Date, isGuess: Bool) {
        self.record = record
        self.now = now
        self.isGuess = isGuess
    }

    /// The version that the next change of the record gets.
    package var nextVersion: UInt64 {
        max(UInt64(saturating: now.timeIntervalSince1970 * 1_000_000), (record?.version ?? 0) &+ 1)
    }
}

/// A record with its name.
public struct NamedRecord: Sendable, Hashable {
    /// The name, 1 to 512 bytes.
    public let name: String
    /// The record.
    public let record: Record
    /// When the record may be forgotten.
    public let end: Date

    /// A record as a store had it.
    public init(name: String, record: Record, end: Date) {
        self.name = name
        self.record = record
        self.end = end
    }
}
