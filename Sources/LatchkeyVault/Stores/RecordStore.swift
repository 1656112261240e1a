public import Foundation
import LatchkeyCore
public import LatchkeySystem

/// Small records that several nodes change at once: accounts with their slots, and used tokens.
///
/// Nobody holds a lock. Who changes a record reads it, decides, and writes it with a higher version under the condition that nobody else
/// wrote meanwhile; otherwise it begins again. So the decision stays a function, and is the same on every engine.
///
/// The server gives a store no name, record or limit beyond those that are stated here.
///
/// Source: `Documentation/LicenseServer.md` §7.
public protocol RecordStore: StoreEngine {
    /// Reads a record, with the engine's clock.
    /// - Throws: `StoreError`.
    func read(_ key: RecordKey) async throws(StoreError) -> RecordReading

    /// Writes a record unless somebody else wrote it meanwhile.
    /// - Parameters:
    ///   - record: the bytes with their version, which is higher than the replaced one's.
    ///   - key: where.
    ///   - replaced: the version that was read; `nil` if there was no record.
    ///   - end: from when on, by the engine's clock, the record may be forgotten, and is as if it were not there.
    ///   - ends: when each thing ends that `count` counts in the record, such as a slot.
    /// - Returns: false if the record has another version by now, and nothing was written.
    /// - Throws: `StoreError`; then nobody knows whether it was written, except for `storeUnfit`: then it was not.
    func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date, counting ends: [Date]
    ) async throws(StoreError) -> Bool

    /// Removes a record if it still has the version.
    /// - Returns: false if it has another version, or is not there.
    /// - Throws: `StoreError`.
    func remove(_ key: RecordKey, version: UInt64) async throws(StoreError) -> Bool

    /// The records of a tenant whose names begin with a text, in the order of their names' bytes. For people who look, not for licenses.
    /// - Parameters:
    ///   - kind: what kind of records.
    ///   - tenant: the tenant.
    ///   - prefix: how the names begin; empty for all.
    ///   - name: only names after this one; `nil` for the first page.
    ///   - limit: the most records, 1 to 1,000.
    /// - Throws: `StoreError`; `storeUnfit` from an engine that keeps no list of the kind. Accounts are always listed.
    func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord]

    /// How many things of a tenant have not ended yet, by the engine's clock. For people who look, not for licenses.
    ///
    /// The writes keep the count, and no record is read for it, but for those that a version of the server wrote that kept none.
    /// - Parameters:
    ///   - kind: what kind of records.
    ///   - tenant: the tenant.
    ///   - most: about how many records without a count are looked at, at most.
    ///   - ends: when each thing ends that counts in a record's bytes, for those records. Called on any thread; must not wait.
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

/// Where a record is. Names are compared byte for byte: two Unicode forms of one letter are two names, as they are in every engine.
public struct RecordKey: Sendable, Hashable {
    /// What records are about. The raw values stand in stores.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An account: slots, devices, downloads. The name is the account's.
        case account
        /// A used token. The name is a digest.
        case token
        /// How much of a limit a tenant has used, such as a day's licenses. The name says of what.
        case usage
    }

    /// What the record is about.
    public let kind: Kind
    /// The tenant's name, 1 to 64 bytes without a NUL.
    public let tenant: String
    /// The record's name, 1 to 512 bytes without a NUL.
    public let name: String
    /// The account whose record it is, where the name does not say it: records of one account are kept in one region. No part of the place.
    package let owner: String?

    /// The place of a record.
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

/// What a record says, and which state of it this is.
public struct Record: Sendable, Hashable {
    /// Rises with each change. It comes from the engine's clock (microseconds since 1970, or one more than before), so that it rises even
    /// after the record was forgotten: a counter would begin again.
    public let version: UInt64
    /// At most 256 KiB.
    public let bytes: [UInt8]

    /// A record as it is written, or as a store had it.
    public init(version: UInt64, bytes: [UInt8]) {
        self.version = version
        self.bytes = bytes
    }
}

/// What a store answered.
public struct RecordReading: Sendable, Hashable {
    /// The record; `nil` if there is none, or its end has come.
    public let record: Record?
    /// Now, by the engine's clock. Nodes' clocks differ; this one counts.
    public let now: Date
    /// Whether nobody asked the store: it is what the node knows.
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
