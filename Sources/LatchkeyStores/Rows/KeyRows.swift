import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem
import LatchkeyVault

/// Reads rows of keys, data keys and the audit, for every engine.
extension StoredRow {
    /// A row of `KeyColumns.all`.
    func keyRow() throws(StoreError) -> KeyRow {
        let kid = try value(1, try bytes(1)) { KeyID(bytes: $0) }
        return KeyRow(
            kid: kid,
            sealed: SealedKey(
                tenant: try text(0), subject: .contentKey(kid), dataKey: try version(8), nonce: try bytes(9),
                sealed: try bytes(10)),
            content: try value(2, try bytes(2)) { ContentName(bytes: Data($0)) },
            track: try value(3, try text(3)) { TrackClass(rawValue: $0) },
            trackType: try text(4),
            policies: try value(5, try bytes(5)) { StoredList.values($0) },
            scheme: isNull(6) ? nil : try value(6, try text(6)) { EncryptionScheme(rawValue: $0) },
            periods: try value(7, try bytes(7)) { StoredList.values($0) },
            created: try date(11), isDisabled: try flag(12))
    }

    /// A row of tenant, version, data key, nonce, sealed.
    func seed() throws(StoreError) -> SealedKey {
        SealedKey(
            tenant: try text(0), subject: .seed(SeedVersion(try version(1))), dataKey: try version(2),
            nonce: try bytes(3), sealed: try bytes(4))
    }

    /// A row of tenant, version, wrapper, nonce, wrapped.
    func dataKey() throws(StoreError) -> WrappedDataKey {
        WrappedDataKey(
            tenant: try text(0), version: try version(1), wrapper: try text(2), nonce: try bytes(3),
            wrapped: try bytes(4))
    }

    /// A row of `BlockColumns.all`.
    func block() throws(StoreError) -> Block {
        let kind = try value(1, try text(1)) { Block.Kind(rawValue: $0) }
        return Block(
            Block.Subject(kind, try text(2), of: try text(0)), reason: try text(3), by: try text(4),
            since: try date(5), until: isNull(6) ? nil : try date(6))
    }

    /// A database's fingerprint.
    package func fingerprint(_ column: Int) throws(StoreError) -> DatabaseFingerprint {
        try value(column, try bytes(column)) { DatabaseFingerprint(bytes: $0) }
    }

    /// A row of sequence, text, previous, hash.
    func auditEntry() throws(StoreError) -> AuditEntry {
        AuditEntry(
            sequence: try value(0, try integer(0)) { UInt64(exactly: $0) }, text: try text(1), previous: try bytes(2),
            hash: try bytes(3))
    }

    /// A row of name, version, bytes, end.
    func namedRecord() throws(StoreError) -> NamedRecord {
        NamedRecord(
            name: try text(0), record: Record(version: UInt64(bitPattern: try integer(1)), bytes: try bytes(2)),
            end: try date(3))
    }
}

/// The columns of keys, in the order of writing and reading.
enum KeyColumns {
    static let names = [
        "tenant", "kid", "content", "track", "track_type", "policies", "scheme", "periods", "data_key", "nonce",
        "sealed", "created", "disabled",
    ]
    static let all = names.joined(separator: ", ")
}

/// The columns of blocks, in the order of writing and reading.
enum BlockColumns { static let all = "tenant, kind, name, reason, actor, since, ends" }

extension Block {
    /// Checks that every engine can store it.
    /// - Throws: `storeUnfit`.
    func check(for engine: String) throws(StoreError) {
        try StoreError.check(subject.tenant, "tenant", StoreLimits.tenantBytes, engine)
        for (text, name) in [(subject.name, "name"), (reason, "reason"), (by, "operator's name")] {
            guard text.utf8.count <= StoreLimits.nameBytes, !text.utf8.contains(0) else {
                throw StoreError(
                    .unfit, engine,
                    reason: "A block's \(name) has more than \(StoreLimits.nameBytes) bytes, or a zero.")
            }
        }
    }
}

/// Lists in one column: JSON, which people can read there.
enum StoredList {
    static func text(_ values: [String]) -> String { values.isEmpty ? "[]" : json(values) }

    static func text(_ values: [UInt32]) -> String { "[\(values.map(String.init).joined(separator: ","))]" }

    static func values<Value: Decodable>(_ json: [UInt8]) -> [Value]? {
        json.count == 2 ? [] : try? JSONDecoder().decode([Value].self, from: Data(json))
    }

    private static func json(_ values: [String]) -> String {
        // Texts always have a JSON form; an encoder fails only for numbers that are not finite.
        String(decoding: (try? JSONEncoder().encode(values)) ?? Data("[]".utf8), as: UTF8.self)
    }
}

/// The end of the names that begin with some bytes.
enum NameRange {
    /// The first bytes after all names with a prefix; greater than any name if the prefix has no such end.
    static func end(ofNamesWith prefix: [UInt8]) -> [UInt8] {
        guard let last = prefix.lastIndex(where: { $0 != 0xff }) else {
            return [UInt8](repeating: 0xff, count: StoreLimits.nameBytes + 1)
        }
        return prefix[..<last] + [prefix[last] + 1]
    }
}

/// The start of a page of keys, as one bound that an index takes: the first place after a cursor, or a prefix.
struct KeyStart: Sendable {
    private(set) var content: [UInt8]
    private(set) var kid = [UInt8](repeating: 0, count: 16)

    init(after cursor: KeyRow.Cursor?, prefix: [UInt8]) {
        content = prefix
        guard let cursor, !cursor.content.bytes.lexicographicallyPrecedes(prefix) else { return }
        content = Array(cursor.content.bytes)
        if let last = cursor.kid.bytes.lastIndex(where: { $0 != 0xff }) {
            kid = NameRange.end(ofNamesWith: Array(cursor.kid.bytes))
            kid += [UInt8](repeating: 0, count: cursor.kid.bytes.endIndex - last - 1)
        } else {
            content.append(0)
        }
    }
}

extension KeyRow {
    /// At most a page of rows from two lists, by content and kid.
    static func merged(_ one: [KeyRow], _ other: [KeyRow], limit: Int) -> [KeyRow] {
        let known = Set(one.map(\.kid))
        let both = one + other.filter { !known.contains($0.kid) }
        return Array(both.sorted { $0.cursor.precedes($1.cursor) }.prefix(limit))
    }
}

extension KeyRow.Cursor {
    fileprivate func precedes(_ other: Self) -> Bool {
        content == other.content
            ? kid.bytes.lexicographicallyPrecedes(other.kid.bytes)
            : content.bytes.lexicographicallyPrecedes(other.content.bytes)
    }
}
