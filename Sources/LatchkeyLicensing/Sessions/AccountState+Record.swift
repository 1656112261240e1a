import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem

// The form of accounts and used tokens in records: one for equal values, and no other is read. Dates are cut to milliseconds.
// A script of `LatchkeyStores` finds a slot in it: `RedisScript.extend`.
// Source: `Documentation/LicenseServer.md` §7.1.
extension AccountState {
    private static let version: UInt8 = 1

    /// The slots in the order of records, in which stores count them.
    var slotsInOrder: [Slot] { slots.sorted { ($0.fence, $0.session) < ($1.fence, $1.session) } }

    /// The account's record, at most 256 KiB once it is `kept(at:)`: without the token's use and without outages.
    var recordBytes: [UInt8] {
        var writer = RecordWriter(version: Self.version)
        writer.write(each: slotsInOrder) { $0.write($1) }
        writer.write(each: stopped.sorted { ($0.at, $0.session) < ($1.at, $1.session) }) { writer, stopped in
            writer.write(stopped.session)
            writer.write(stopped.by) { $0.write($1) }
            writer.write(stopped.at)
        }
        writer.write(devices)
        writer.write(deviceWindow) { $0.write(UInt64(saturating: $1.clamped.inSeconds)) }
        let downloads = downloads.sorted { ($0.content, $0.device) < ($1.content, $1.device) }
        writer.write(each: downloads) { writer, download in
            writer.write(download.content)
            writer.write(download.device)
            writer.write(download.ends) { $0.write($1) }
        }
        writer.write(minute) { writer, minute in
            writer.write(minute.began)
            writer.write(UInt64(clamping: minute.licenses))
        }
        writer.write(firstPlays)
        return writer.bytes
    }

    /// The record of an account of which nothing counts.
    static let emptyRecordBytes = AccountState().recordBytes

    /// - Parameter isOwn: whether this process wrote the bytes itself, so that they need no second look. Defaults to no.
    /// - Throws: `StoreError` of the kind `damaged` for anything that `recordBytes` does not write.
    init(recordBytes bytes: [UInt8], engine: String, isOwn: Bool = false) throws(StoreError) {
        var reader = try RecordReader(bytes, "The record of an account", version: Self.version, engine: engine)
        try self.init(&reader)
        guard reader.isAtEnd, isOwn || recordBytes == bytes else { throw reader.damage }
    }

    /// When each slot ends; nothing else is read.
    /// - Returns: `nil` for bytes that break off before the slots do.
    static func slotEnds(inRecordBytes bytes: [UInt8]) -> [Date]? {
        guard bytes.first == version else { return nil }
        var reader = RecordReader(bytes, from: 1)
        return try? reader.each { reader throws(StoreError) in try reader.skipSlot() }
    }

    private init(_ reader: inout RecordReader) throws(StoreError) {
        self.init()
        slots = try reader.each { reader throws(StoreError) in try Slot(&reader) }
        stopped = try reader.each { reader throws(StoreError) in
            let session = try reader.text()
            let by = try reader.optional { reader throws(StoreError) in try reader.text() }
            return StoppedSession(session: session, by: by, at: try reader.date())
        }
        devices = try reader.dates()
        deviceWindow = try reader.optional { reader throws(StoreError) in
            Duration(clampingSeconds: try reader.number())
        }
        let downloads = try reader.each { reader throws(StoreError) in
            let content = try reader.text()
            let device = try reader.text()
            let ends = try reader.optional { reader throws(StoreError) in try reader.date() }
            return StoredDownload(content: content, device: device, ends: ends)
        }
        self.downloads = Set(downloads)
        minute = try reader.optional { reader throws(StoreError) in
            let began = try reader.date()
            return Minute(began: began, licenses: Int(clamping: try reader.number()))
        }
        firstPlays = try reader.dates()
    }
}

extension AccountState.TokenUse {
    private static let version: UInt8 = 1

    var recordBytes: [UInt8] {
        var writer = RecordWriter(version: Self.version)
        writer.write(session)
        writer.write(first)
        return writer.bytes
    }

    /// - Throws: `StoreError` of the kind `damaged` for anything that `recordBytes` does not write.
    init(recordBytes bytes: [UInt8], engine: String) throws(StoreError) {
        var reader = try RecordReader(bytes, "The record of a used token", version: Self.version, engine: engine)
        self.init(session: try reader.text(), first: try reader.date())
        guard reader.isAtEnd, recordBytes == bytes else { throw reader.damage }
    }
}

extension RecordReader {
    /// - Throws: `StoreError` for an unknown version.
    fileprivate init(_ bytes: [UInt8], _ what: String, version: UInt8, engine: String) throws(StoreError) {
        guard let first = bytes.first else { throw Self(bytes, "An empty record", engine: engine).damage }
        guard first == version else {
            throw StoreError(
                .damaged, engine, reason: "A record has format \(first), but this server reads \(version).")
        }
        self.init(bytes, from: 1, what, engine: engine)
    }

    fileprivate mutating func dates() throws(StoreError) -> [String: Date] {
        let pairs = try each { reader throws(StoreError) in (try reader.text(), try reader.date()) }
        return Dictionary(pairs) { first, _ in first }
    }
}

extension RecordReader {
    /// Skips the bytes that `RecordWriter` wrote for a slot.
    /// - Returns: when the slot ends.
    fileprivate mutating func skipSlot() throws(StoreError) -> Date {
        try skipText()
        // Device, label and profile, where they are known.
        for _ in 0..<3 where try number() != 0 { try skipText() }
        try skipText()
        // Tracks, fence, start.
        for _ in 0..<3 { _ = try number() }
        return try date()
    }
}

extension RecordWriter {
    fileprivate mutating func write(_ dates: [String: Date]) {
        write(each: dates.sorted { $0.key < $1.key }) { writer, pair in
            writer.write(pair.key)
            writer.write(pair.value)
        }
    }

    fileprivate mutating func write(_ slot: Slot) {
        write(slot.session)
        for text in [slot.device, slot.label, slot.profile] { write(text) { $0.write($1) } }
        write(slot.content)
        write(slot.tracks.flags | slot.drm.flags)
        write(UInt64(clamping: slot.fence))
        write(slot.started)
        write(slot.ends)
    }
}

extension Slot {
    fileprivate init(_ reader: inout RecordReader) throws(StoreError) {
        let session = try reader.text()
        let text = { (reader: inout RecordReader) throws(StoreError) in try reader.text() }
        let (device, label) = (try reader.optional(text), try reader.optional(text))
        let (profile, content) = (try reader.optional(text), try reader.text())
        let flags = try reader.number()
        self.init(
            session: session, device: device, label: label, profile: profile,
            drm: LicenseRequestFacts.DRM(flags: flags), content: content, tracks: Set(flags: flags),
            fence: Int(clamping: try reader.number()), started: try reader.date(), ends: try reader.date())
    }
}

extension LicenseRequestFacts.DRM {
    /// The system's number above the bits of the classes. FairPlay's is 0, so that its slots are written as before there were others.
    fileprivate var flags: UInt64 { UInt64(Self.allCases.firstIndex(of: self) ?? 0) << 32 }

    /// An unknown system's number is read as FairPlay. It would not be written so, and the record counts as damaged.
    fileprivate init(flags: UInt64) {
        let number = Int(flags >> 32)
        self = Self.allCases.indices.contains(number) ? Self.allCases[number] : .fairPlay
    }
}

extension Set<TrackClass> {
    /// A bit for each class. Their order is part of records and heartbeat tokens: append only.
    private static let order: [TrackClass] = [.audio, .sd, .hd, .uhd1, .uhd2, .all]

    var flags: UInt64 {
        reduce(0) { flags, track in Self.order.firstIndex(of: track).map { flags | 1 << UInt64($0) } ?? flags }
    }

    init(flags: UInt64) {
        self = Set(Self.order.enumerated().filter { flags & 1 << UInt64($0.offset) != 0 }.map(\.element))
    }
}
