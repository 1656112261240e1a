import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// The contents of a persistable key under its seal, 80 bytes.
///
///      offset  0        16            32   48         56            64     68        72         76     80
///             +--------+-------------+----+----------+-------------+------+---------+----------+------+
///             | number | content key | IV | time of  | first start | kind | storage | playback | HDCP |
///             |        |             |    | the CKC  | or 0        |      | seconds | seconds  |      |
///             | 16     | 16          | 16 | 8        | 8           | 4    | 4       | 4        | 4    |
///             +--------+-------------+----+----------+-------------+------+---------+----------+------+
///
/// Times are milliseconds since 1970. An HDCP field of 0 means no requirement.
struct PersistableKeyRecord {
    static let count = 80

    /// Identifies the key.
    let number: KeyNumber
    var startedAt: Date?
    private let contentKey: ContentKey
    private let terms: LicenseTerms
    private let acceptedAt: Date

    /// - Returns: `nil` if the terms do not allow storage.
    init?(_ key: DeviceKey, number: KeyNumber) {
        guard key.terms.isPersistable else { return nil }
        self.number = number
        contentKey = key.contentKey
        terms = key.terms
        acceptedAt = key.acceptedAt.date
        startedAt = key.startedAt?.date
    }

    /// Whether the next start of playback is the first one and begins another window.
    var restartsAtFirstPlay: Bool {
        if case .dualExpiry = terms.validity { startedAt == nil } else { false }
    }

    func key(uptime: Duration) -> DeviceKey {
        let moment = { DeviceTime(date: $0, uptime: uptime) }
        return DeviceKey(
            contentKey: contentKey, terms: terms, acceptedAt: moment(acceptedAt), startedAt: startedAt.map(moment))
    }
}

/// A random number that identifies a stored key.
struct KeyNumber: Hashable, Sendable {
    let bytes: [UInt8]

    static func random() -> KeyNumber {
        var generator = CryptographicGenerator()
        return KeyNumber(bytes: generator.bytes(16))
    }
}

extension PersistableKeyRecord {
    private enum Kind: UInt32 {
        case persistent = 1
        case persistentFor = 2
        case dualExpiry = 3
    }

    var bytes: [UInt8] {
        var bytes = number.bytes
        for part in [contentKey.key, contentKey.iv] { part.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        bytes.append(bigEndian: Self.milliseconds(acceptedAt))
        bytes.append(bigEndian: startedAt.map { max(1, Self.milliseconds($0)) } ?? 0)
        let (kind, storage, playback) = validity
        bytes.append(bigEndian: kind.rawValue)
        for window in [storage, playback] { bytes.append(bigEndian: UInt32(clamping: window.components.seconds)) }
        let hdcp = terms.hdcp.flatMap { HDCPRequirement.allCases.firstIndex(of: $0) }
        bytes.append(bigEndian: UInt32(clamping: (hdcp ?? -1) + 1))
        return bytes
    }

    /// - Returns: `nil` if the bytes are not a record.
    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard bytes.count == Self.count, let number = reader.take(16), let key = reader.take(16),
            let iv = reader.take(16), let accepted = reader.uint64(), let started = reader.uint64(),
            let kind = reader.uint32(), let storage = reader.uint32(), let playback = reader.uint32(),
            let hdcp = reader.uint32(), hdcp <= HDCPRequirement.allCases.count,
            let validity = Self.validity(kind, storage, playback),
            let content = ContentKey(key: Secret(bytes[key]), iv: Secret(bytes[iv]))
        else { return nil }
        self.number = KeyNumber(bytes: [UInt8](bytes[number]))
        contentKey = content
        terms = LicenseTerms(validity, hdcp: hdcp == 0 ? nil : HDCPRequirement.allCases[Int(hdcp) - 1])
        acceptedAt = Self.date(accepted)
        startedAt = started == 0 ? nil : Self.date(started)
    }

    private var validity: (Kind, storage: Duration, playback: Duration) {
        switch terms.validity {
        case .persistentFor(let storage): (.persistentFor, storage, .zero)
        case .dualExpiry(let storage, let playback): (.dualExpiry, storage, playback)
        case .persistent, .unlimited, .lease, .rental, .leaseAndRental: (.persistent, .zero, .zero)
        }
    }

    private static func validity(_ kind: UInt32, _ storage: UInt32, _ playback: UInt32) -> LicenseTerms.Validity? {
        switch Kind(rawValue: kind) {
        case .persistent: .persistent
        case .persistentFor: .persistentFor(.seconds(storage))
        case .dualExpiry: .dualExpiry(storage: .seconds(storage), playback: .seconds(playback))
        case nil: nil
        }
    }

    private static func milliseconds(_ date: Date) -> UInt64 {
        UInt64(max(0, min(date.timeIntervalSince1970 * 1_000, 1e15)))
    }

    private static func date(_ milliseconds: UInt64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }
}
