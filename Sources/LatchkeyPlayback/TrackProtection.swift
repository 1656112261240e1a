public import Foundation
import LatchkeyCore

/// The stated encryption of one fragmented MP4 track: in the init section, and in the segment.
///
/// Source: ISO/IEC 14496-12 §8.8 and §8.12, ISO/IEC 23001-7 §8.2, `Documentation/Media.md` §6.
public struct TrackProtection: Sendable, Hashable {
    /// The four characters of the scheme, `cbcs` or `cenc`; empty if the sample entry names none; `nil` if the segment is not
    /// encrypted.
    public internal(set) var scheme: String?
    /// The ID of the key, 16 bytes; `nil` if absent or all zeros.
    public internal(set) var keyID: Data?
    /// The IV of all samples, 8 or 16 bytes; `nil` if each sample has its own.
    public internal(set) var constantIV: Data?
    /// The sample entry's four characters, such as `encv`; empty if absent.
    var entry = ""
    /// The sample entry that the encryption replaced: `frma`.
    var originalFormat: String?
    /// The version of `tenc`; `nil` if absent.
    var version: Int?
    /// The pattern of `tenc` or `seig`; `nil` if both are absent.
    var pattern: Pattern?
    /// The size in bytes of each sample's own IV; 0 with a constant IV.
    var sampleIVSize = 0
    /// The number of `seig` entries of the init section.
    var sharedGroups = 0
    /// The fragments of the segment that hold the track.
    var fragments: [TrackFragment] = []

    /// The numbers of encrypted and of clear 16-byte blocks, in turn; 0 and 0 without a pattern.
    struct Pattern: Hashable {
        let encrypted, clear: Int
    }

    /// Reads the init section and a segment, which may be one file.
    /// - Parameter isCut: whether the segment may end inside a box, as single pictures do.
    /// - Returns: one for each track of the segment.
    /// - Throws: `Diagnosis` `malformedMedia`, `unsupportedSampleGroups`.
    static func read(initialization: Data, segment: Data, isCut: Bool = false) throws -> [TrackProtection] {
        let head = ISOBoxes(initialization)
        let whole = ISOBoxes(segment)
        let body = isCut ? whole.cutToWholeBoxes : whole
        let rotated = try SampleGroupKeys.read(segment: body.bytes)?.parameters
        let fragments = try body.fragmentBoxes()
        let defaults = try head.trackDefaults()
        let tracks = try head.sampleEntries()
        let present = tracks.filter { track in fragments.contains { $0.track == track.id } }
        return try (present.isEmpty ? tracks : present).map { track in
            let own = fragments.filter { $0.track == track.id }
            let index = Int(clamping: own.first?.description ?? defaults[track.id]?.description ?? 1) - 1
            let entry =
                track.entries.indices.contains(index) ? track.entries[index] : track.entries.first { $0.isProtected }
            var protection = try entry.map { try read($0, of: head, rotated: rotated) } ?? TrackProtection()
            guard protection.scheme != nil else { return protection }
            protection.sharedGroups = track.groups
            protection.fragments = try own.map {
                try TrackFragment(
                    $0, of: body, ivSize: protection.sampleIVSize, sampleSize: defaults[track.id]?.sampleSize ?? 0)
            }
            return protection
        }
    }

    private static func read(_ entry: SampleEntry, of head: ISOBoxes, rotated: [UInt8]?) throws -> TrackProtection {
        var found = TrackProtection(entry: entry.type)
        guard let fields = entry.fields, entry.payload.count > fields else { return found }
        let inner = entry.payload.lowerBound + fields..<entry.payload.upperBound
        let fixed = try head.first(["sinf", "schi", "tenc"], in: inner)
        // Reserved (1), pattern (1), protected (1), size of a sample's own IV (1), key ID (16), then size and bytes of the constant IV.
        let parameters = rotated ?? fixed.map { Array(head.bytes[$0].dropFirst(4)) } ?? []
        let scheme = try head.text(["sinf", "schm"], at: 4, in: inner)
        if parameters.count > 2, parameters[2] == 0, scheme != nil { return found }
        found.scheme = scheme ?? ""
        found.originalFormat = try head.text(["sinf", "frma"], in: inner)
        found.version = try fixed.map { Int(try head.number(at: $0.lowerBound, size: 1, within: $0)) }
        guard parameters.count >= 20 else { return found }
        found.pattern = Pattern(encrypted: Int(parameters[1] >> 4), clear: Int(parameters[1] & 0x0f))
        found.sampleIVSize = Int(parameters[3])
        if parameters[4..<20].contains(where: { $0 != 0 }) { found.keyID = Data(parameters[4..<20]) }
        if parameters.count > 20, parameters[2] == 1, parameters[3] == 0 {
            let size = Int(parameters[20])
            if size == 8 || size == 16, parameters.count >= 21 + size {
                found.constantIV = Data(parameters[21..<21 + size])
            }
        }
        return found
    }
}

/// A sample entry of an init section.
private struct SampleEntry {
    let type: String
    let payload: Range<Int>

    var isProtected: Bool { fields != nil }

    /// The number of bytes of fields before its boxes, for video and for audio; `nil` for a clear entry.
    var fields: Int? { ["encv": 78, "enca": 28][type] }
}

extension ISOBoxes {
    /// The payload of the first box at the end of a path of types; `nil` if absent.
    func first(_ path: [String], in range: Range<Int>) throws -> Range<Int>? {
        guard let type = path.first else { return range }
        for box in try boxes(in: range) where box.type == type {
            if let found = try first(Array(path.dropFirst()), in: box.payload) { return found }
        }
        return nil
    }

    /// Four characters in the first box at the end of a path.
    fileprivate func text(_ path: [String], at offset: Int = 0, in range: Range<Int>) throws -> String? {
        try first(path, in: range).map {
            String(decoding: try slice(at: $0.lowerBound + offset, size: 4, within: $0), as: UTF8.self)
        }
    }

    /// The boxes before the first one that exceeds the end.
    fileprivate var cutToWholeBoxes: ISOBoxes {
        var end = 0
        while end < bytes.count, let size = try? number(at: end, size: 4, within: 0..<bytes.count),
            size >= 8, size <= bytes.count - end
        {
            end += Int(size)
        }
        return ISOBoxes(bytes.prefix(end))
    }

    /// The tracks of an init section, by ID: sample entries, and the number of `seig` entries that they share.
    fileprivate func sampleEntries() throws -> [(id: UInt64, entries: [SampleEntry], groups: Int)] {
        var tracks: [(id: UInt64, entries: [SampleEntry], groups: Int)] = []
        for moov in try boxes() where moov.type == "moov" {
            for trak in try children(of: moov, type: "trak") {
                guard let samples = try first(["mdia", "minf", "stbl"], in: trak.payload),
                    let table = try first(["stsd"], in: samples), table.count > 8,
                    let header = try first(["tkhd"], in: trak.payload)
                else { continue }
                let isLong = try number(at: header.lowerBound, size: 1, within: header) == 1
                let id = try number(at: header.lowerBound + (isLong ? 20 : 12), size: 4, within: header)
                let entries = try boxes(in: table.lowerBound + 8..<table.upperBound).map {
                    SampleEntry(type: $0.type, payload: $0.payload)
                }
                let groups = try SampleGroupKeys.count(in: boxes(in: samples), of: self)
                tracks.append((id, entries, groups))
            }
        }
        return tracks.sorted { $0.id < $1.id }
    }

    /// The defaults of each track's fragments: `trex`.
    fileprivate func trackDefaults() throws -> [UInt64: (description: UInt64, sampleSize: Int)] {
        var found: [UInt64: (description: UInt64, sampleSize: Int)] = [:]
        for moov in try boxes() where moov.type == "moov" {
            for mvex in try children(of: moov, type: "mvex") {
                for trex in try children(of: mvex, type: "trex") {
                    let start = trex.payload.lowerBound
                    let field = { try number(at: start + $0, size: 4, within: trex.payload) }
                    try found[field(4)] = (field(8), Int(field(16)))
                }
            }
        }
        return found
    }
}
