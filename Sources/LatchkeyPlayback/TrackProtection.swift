public import Foundation
import LatchkeyCore

/// What fragmented MP4 states about its encryption: in the init section, and in the segments if keys rotate.
///
/// Source: ISO/IEC 14496-12 §8.12, ISO/IEC 23001-7 §8.2, `Documentation/Media.md` §6.
public struct TrackProtection: Sendable, Hashable {
    /// The four characters of the scheme, `cbcs` or `cenc`; `nil` if nothing is encrypted.
    public let scheme: String?
    /// The IV of all samples, 8 or 16 bytes; `nil` if each sample has its own.
    public let constantIV: Data?

    /// Reads the init section and the first segment of a track.
    /// - Returns: `nil` for other containers, and if there is no init section.
    /// - Throws: `Diagnosis` `malformedMedia`, `unsupportedSampleGroups`.
    static func read(_ track: LocalTrack, in files: WorkingFiles) throws -> TrackProtection? {
        guard track.container == .fragmentedMP4, let segment = track.segments.first,
            let initialization = segment.initialization
        else { return nil }
        let boxes = ISOBoxes(try files.read(initialization))
        guard let entry = try sampleEntry(of: boxes) else { return TrackProtection(scheme: nil, constantIV: nil) }
        let scheme = try boxes.first(["sinf", "schm"], in: entry).map { box in
            String(decoding: try boxes.slice(at: box.lowerBound + 4, size: 4, within: box), as: UTF8.self)
        }
        let rotated = try SampleGroupKeys.read(segment: files.read(segment.file))?.parameters
        let fixed = try boxes.first(["sinf", "schi", "tenc"], in: entry).map { Array(boxes.bytes[$0].dropFirst(4)) }
        return TrackProtection(scheme: scheme, constantIV: constantIV(rotated ?? fixed ?? []))
    }

    /// The range of the boxes inside the first encrypted sample entry; `nil` if there is none.
    private static func sampleEntry(of boxes: ISOBoxes) throws -> Range<Int>? {
        let whole = 0..<boxes.bytes.count
        guard let table = try boxes.first(["moov", "trak", "mdia", "minf", "stbl", "stsd"], in: whole) else {
            return nil
        }
        guard table.count > 8 else { return nil }
        // The number of bytes of fields before the boxes, for video and for audio.
        for (type, fields) in [("encv", 78), ("enca", 28)] {
            guard let entry = try boxes.first([type], in: table.lowerBound + 8..<table.upperBound) else { continue }
            guard entry.count > fields else { return nil }
            return entry.lowerBound + fields..<entry.upperBound
        }
        return nil
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

extension ISOBoxes {
    /// The payload of the first box at the end of a path of types; `nil` if there is none.
    fileprivate func first(_ path: [String], in range: Range<Int>) throws -> Range<Int>? {
        guard let type = path.first else { return range }
        for box in try boxes(in: range) where box.type == type {
            if let found = try first(Array(path.dropFirst()), in: box.payload) { return found }
        }
        return nil
    }
}
