package import Foundation
import LatchkeyCore

/// Small records that several nodes change at once: accounts with their slots, and used tokens.
///
/// Nobody holds a lock. Who changes a record reads it, decides, and writes it with a higher version under the condition that nobody else
/// wrote meanwhile; otherwise it begins again. So the decision stays a function, and is the same on every engine.
///
/// Source: `Documentation/LicenseServer.md` §7.
package protocol RecordStore: Sendable {
    /// The engine's name for metrics, such as `memory` or `postgresql`.
    var engine: String { get }

    /// Whether it answers out of this process's memory and never waits, so that nobody needs a limit for its time. Defaults to no.
    var answersAtOnce: Bool { get }

    /// Reads a record, with the engine's clock.
    /// - Throws: `StoreError`.
    func read(_ key: RecordKey) async throws(StoreError) -> RecordReading

    /// Writes a record unless somebody else wrote it meanwhile.
    /// - Parameters:
    ///   - record: the bytes with their version, which is higher than the replaced one's.
    ///   - key: where.
    ///   - replaced: the version that was read; `nil` if there was no record.
    ///   - end: from when on, by the engine's clock, the record may be forgotten, and is as if it were not there.
    /// - Returns: false if the record has another version by now, and nothing was written.
    /// - Throws: `StoreError`; then nobody knows whether it was written, except for `storeUnfit`: then it was not.
    func write(
        _ record: Record, at key: RecordKey, replacing replaced: UInt64?, until end: Date
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
    /// - Throws: `StoreError`.
    func page(
        of kind: RecordKey.Kind, _ tenant: String, prefix: String, after name: String?, limit: Int
    ) async throws(StoreError) -> [NamedRecord]

    /// The sum of a value over the records of a tenant, each once, in any order. For people who look, not for licenses. Defaults to going
    /// through the pages; engines that sort for each page look at all records once.
    /// - Parameters:
    ///   - kind: what kind of records.
    ///   - tenant: the tenant.
    ///   - most: about how many records are looked at, at most.
    ///   - value: the value of a record's bytes. Called on any thread; must not wait.
    /// - Throws: `StoreError`.
    func sum(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ value: @escaping @Sendable ([UInt8]) -> Int
    ) async throws(StoreError) -> RecordSum
}

/// A sum over records.
package struct RecordSum: Sendable, Hashable {
    package let value: Int
    /// Whether all records were looked at. Otherwise the sum is at least so much.
    package let isWhole: Bool

    package init(_ value: Int, isWhole: Bool) {
        self.value = value
        self.isWhole = isWhole
    }
}

extension RecordStore {
    package var answersAtOnce: Bool { false }

    package func sum(
        of kind: RecordKey.Kind, _ tenant: String, most: Int, _ value: @escaping @Sendable ([UInt8]) -> Int
    ) async throws(StoreError) -> RecordSum {
        var (sum, seen) = (0, 0)
        var last: String?
        while seen < most {
            let page = try await page(of: kind, tenant, prefix: "", after: last, limit: StoreLimits.pageRows)
            for one in page { sum += value(one.record.bytes) }
            seen += page.count
            last = page.last?.name
            guard page.count == StoreLimits.pageRows else { return RecordSum(sum, isWhole: true) }
        }
        return RecordSum(sum, isWhole: false)
    }
}

/// Where a record is. Names are compared byte for byte: two Unicode forms of one letter are two names, as they are in every engine.
package struct RecordKey: Sendable, Hashable {
    /// What records are about. The raw values stand in stores.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An account: slots, devices, downloads. The name is the account's.
        case account
        /// A used token. The name is a digest.
        case token
    }

    package let kind: Kind
    /// The tenant's name, 1 to 64 bytes without a NUL.
    package let tenant: String
    /// The record's name, 1 to 512 bytes without a NUL.
    package let name: String

    package init(_ kind: Kind, tenant: String, name: String) {
        self.kind = kind
        self.tenant = tenant
        self.name = name
    }

    package static func == (one: Self, other: Self) -> Bool {
        one.kind == other.kind && one.tenant.equalsByteForByte(other.tenant) && one.name.equalsByteForByte(other.name)
    }

    package func hash(into hasher: inout Hasher) {
        // Canonically equal texts have equal hashes, so this agrees with `==`, and those few share a bucket.
        hasher.combine(kind)
        hasher.combine(tenant)
        hasher.combine(name)
    }
}

/// What a record says, and which state of it this is.
package struct Record: Sendable, Hashable {
    /// Rises with each change. It comes from the engine's clock (microseconds since 1970, or one more than before), so that it rises even
    /// after the record was forgotten: a counter would begin again.
    package let version: UInt64
    /// At most 256 KiB.
    package let bytes: [UInt8]

    package init(version: UInt64, bytes: [UInt8]) {
        self.version = version
        self.bytes = bytes
    }
}

/// What a store answered.
package struct RecordReading: Sendable, Hashable {
    /// The record; `nil` if there is none, or its end has come.
    package let record: Record?
    /// Now, by the engine's clock. Nodes' clocks differ; this one counts.
    package let now: Date

    package init(record: Record?, now: Date) {
        self.record = record
        self.now = now
    }

    /// The version that the next change of the record gets.
    package var nextVersion: UInt64 {
        max(UInt64(saturating: now.timeIntervalSince1970 * 1_000_000), (record?.version ?? 0) &+ 1)
    }
}

/// A record with its name.
package struct NamedRecord: Sendable, Hashable {
    package let name: String
    package let record: Record
    /// When the record may be forgotten.
    package let end: Date

    package init(name: String, record: Record, end: Date) {
        self.name = name
        self.record = record
        self.end = end
    }
}
