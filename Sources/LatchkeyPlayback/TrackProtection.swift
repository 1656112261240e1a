public import Foundation
import LatchkeyCore

/// What fragmented MP4 states about the encryption of one track: in the init section, and in the segments if keys rotate.
///
/// Source: ISO/IEC 14496-12 §8.8 and §8.12, ISO/IEC 23001-7 §8.2, `Documentation/Media.md` §6.
public struct TrackProtection: Sendable, Hashable {
    /// The four characters of the scheme, `cbcs` or `cenc`; `nil` if the segment is not encrypted.
    public let scheme: String?
    /// The ID of the key, 16 bytes; `nil` if there is none, or only zeros.
    public let keyID: Data?
    /// The IV of all samples, 8 or 16 bytes; `nil` if each sample has its own.
    public let constantIV: Data?

    /// Reads the init section and the first segment of a track.
    /// - Parameter isCut: whether the segment may end inside a box, as single pictures do.
    /// - Returns: one for each track of the segment; empty for other containers, and if there is no init section.
    /// - Throws: `Diagnosis` `malformedMedia`, `unsupportedSampleGroups`.
    static func read(_ track: LocalTrack, in files: WorkingFiles, isCut: Bool = false) throws -> [TrackProtection] {
        guard track.container == .fragmentedMP4, let segment = track.segments.first, segment.method != .wholeSegment,
            let initialization = segment.initialization
        else { return [] }
        let head = ISOBoxes(try files.read(initialization))
        let whole = ISOBoxes(try files.read(segment.file))
        let body = isCut ? whole.cutToWholeBoxes : whole
        let rotated = try SampleGroupKeys.read(segment: body.bytes)?.parameters
        let chosen = try body.chosenDescriptions()
        let defaults = try head.defaultDescriptions()
        let tracks = try head.sampleEntries()
        let present = tracks.filter { chosen.keys.contains($0.key) }
        return try (present.isEmpty ? tracks : present).sorted { $0.key < $1.key }.map { id, entries in
            let index = Int(clamping: (chosen[id] ?? nil) ?? defaults[id] ?? 1) - 1
            let entry = entries.indices.contains(index) ? entries[index] : entries.first { $0.fields != nil }
            return try read(entry, of: head, rotated: rotated)
        }
    }

    private static func read(
        _ entry: SampleEntry?, of head: ISOBoxes, rotated: [UInt8]?
    ) throws -> TrackProtection {
        let clear = TrackProtection(scheme: nil, keyID: nil, constantIV: nil)
        guard let fields = entry?.fields, let range = entry?.payload, range.count > fields else { return clear }
        let inner = range.lowerBound + fields..<range.upperBound
        let scheme = try head.first(["sinf", "schm"], in: inner).map { box in
            String(decoding: try head.slice(at: box.lowerBound + 4, size: 4, within: box), as: UTF8.self)
        }
        let fixed = try head.first(["sinf", "schi", "tenc"], in: inner).map { Array(head.bytes[$0].dropFirst(4)) }
        let parameters = rotated ?? fixed ?? []
        if parameters.count > 2, parameters[2] == 0, rotated != nil || fixed != nil, scheme != nil { return clear }
        return TrackProtection(scheme: scheme, keyID: keyID(parameters), constantIV: constantIV(parameters))
    }

    private static func keyID(_ parameters: [UInt8]) -> Data? {
        guard parameters.count >= 20, parameters[4..<20].contains(where: { $0 != 0 }) else { return nil }
        return Data(parameters[4..<20])
    }

    /// Reserved (1), pattern (1), protected (1), size of a sample's own IV (1), key ID (16), then size and bytes of the constant
    /// IV.
    private static func constantIV(_ parameters: [UInt8]) -> Data? {
        guard parameters.count > 20, parameters[2] == 1, parameters[3] == 0 else { return nil }
        let size = Int(parameters[20])
        guard size == 8 || size == 16, parameters.count >= 21 + size else { return nil }
        return Data(parameters[21..<21 + size])
    }
}

/// A sample entry of an init section.
private struct SampleEntry {
    let payload: Range<Int>
    /// The number of bytes of fields before its boxes; `nil` if it is in clear.
    let fields: Int?
}

extension ISOBoxes {
    /// The payload of the first box at the end of a path of types; `nil` if there is none.
    fileprivate func first(_ path: [String], in range: Range<Int>) throws -> Range<Int>? {
        guard let type = path.first else { return range }
        for box in try boxes(in: range) where box.type == type {
            if let found = try first(Array(path.dropFirst()), in: box.payload) { return found }
        }
        return nil
    }

    /// The boxes up to the first that reaches past the end.
    fileprivate var cutToWholeBoxes: ISOBoxes {
        var end = 0
        while end < bytes.count, let size = try? number(at: end, size: 4, within: 0..<bytes.count),
            size >= 8, size <= bytes.count - end
        {
            end += Int(size)
        }
        return ISOBoxes(bytes.prefix(end))
    }

    /// The sample entries of each track of an init section, by track ID.
    fileprivate func sampleEntries() throws -> [UInt64: [SampleEntry]] {
        var entries: [UInt64: [SampleEntry]] = [:]
        for moov in try boxes() where moov.type == "moov" {
            for trak in try children(of: moov, type: "trak") {
                guard let table = try first(["mdia", "minf", "stbl", "stsd"], in: trak.payload), table.count > 8,
                    let header = try first(["tkhd"], in: trak.payload)
                else { continue }
                let isLong = try number(at: header.lowerBound, size: 1, within: header) == 1
                let id = try number(at: header.lowerBound + (isLong ? 20 : 12), size: 4, within: header)
                // The number of bytes of fields before the boxes, for video and for audio.
                entries[id] = try boxes(in: table.lowerBound + 8..<table.upperBound).map {
                    SampleEntry(payload: $0.payload, fields: ["encv": 78, "enca": 28][$0.type])
                }
            }
        }
        return entries
    }

    /// The sample entry that each track's fragments have unless they say otherwise: `trex`.
    fileprivate func defaultDescriptions() throws -> [UInt64: UInt64] {
        var found: [UInt64: UInt64] = [:]
        for moov in try boxes() where moov.type == "moov" {
            for mvex in try children(of: moov, type: "mvex") {
                for trex in try children(of: mvex, type: "trex") {
                    let start = trex.payload.lowerBound
                    let id = try number(at: start + 4, size: 4, within: trex.payload)
                    found[id] = try number(at: start + 8, size: 4, within: trex.payload)
                }
            }
        }
        return found
    }

    /// The tracks of a segment, each with the sample entry that its first fragment names: `tfhd`.
    fileprivate func chosenDescriptions() throws -> [UInt64: UInt64?] {
        var found: [UInt64: UInt64?] = [:]
        for moof in try boxes() where moof.type == "moof" {
            for traf in try children(of: moof, type: "traf") {
                guard let header = try first(["tfhd"], in: traf.payload) else { continue }
                let flags = try number(at: header.lowerBound, size: 4, within: header)
                let id = try number(at: header.lowerBound + 4, size: 4, within: header)
                guard found[id] == nil else { continue }
                let offset = header.lowerBound + (flags & 1 == 1 ? 16 : 8)
                let description = flags & 2 == 2 ? try number(at: offset, size: 4, within: header) : nil
                found.updateValue(description, forKey: id)
            }
        }
        return found
    }
}
