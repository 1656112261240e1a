import Foundation
import LatchkeyCore

/// The key parameters in the `seig` sample group of an fMP4 segment with key rotation.
///
/// With key rotation, the init section's `tenc` has only zeros, and each segment states its key ID, pattern and IV. ffmpeg reads
/// only `tenc`, so the segment's parameters are copied into it.
///
/// Source: ISO/IEC 23001-7 §6 and §8.2, `Documentation/Media.md` §4 and §6.
struct SampleGroupKeys: Hashable {
    /// The contents of a `tenc` after version and flags: pattern, protection, IV size, key ID, constant IV.
    let parameters: [UInt8]

    /// Reads the parameters of a segment.
    /// - Returns: `nil` for a segment without such a group, whose key does not rotate.
    /// - Throws: `Diagnosis` `malformedMedia`; `unsupportedSampleGroups` if samples of one segment have different parameters.
    static func read(segment: some Sequence<UInt8>) throws -> Self? {
        let file = ISOBoxes(segment)
        var entries: Set<Self> = []
        var groupless = 0
        for moof in try file.boxes() where moof.type == "moof" {
            for traf in try file.children(of: moof, type: "traf") {
                let found = try descriptions(in: traf, of: file)
                entries.formUnion(found)
                groupless += found.isEmpty ? 1 : 0
            }
        }
        guard let entry = entries.first else { return nil }
        guard entries.count == 1, groupless == 0 else {
            throw Diagnosis.unsupportedSampleGroups("a segment with \(entries.count) sets of key parameters")
        }
        return entry
    }

    /// An init section with these parameters in every `tenc`.
    /// - Throws: `Diagnosis` `malformedMedia`, also if there is no `tenc`.
    func patched(initialization: some Sequence<UInt8>) throws -> [UInt8] {
        let version1: [UInt8] = [1, 0, 0, 0]
        var file = ISOBoxes(initialization)
        var isPatched = false
        for entry in [ISOBoxStep(type: "encv", fields: 78), ISOBoxStep(type: "enca", fields: 28)] {
            guard let next = try file.replacing(Self.path(through: entry), with: version1 + parameters) else {
                continue
            }
            file = next
            isPatched = true
        }
        guard isPatched else {
            throw Diagnosis.malformedMedia("an init section without tenc, though its segments have key parameters")
        }
        return file.bytes
    }

    private static func path(through entry: ISOBoxStep) -> [ISOBoxStep] {
        let toTable = ["moov", "trak", "mdia", "minf", "stbl"].map { ISOBoxStep(type: $0) }
        let toParameters = ["sinf", "schi", "tenc"].map { ISOBoxStep(type: $0) }
        return toTable + [ISOBoxStep(type: "stsd", fields: 8), entry] + toParameters
    }

    private static func descriptions(in traf: ISOBox, of file: ISOBoxes) throws -> Set<Self> {
        let boxes = try file.boxes(in: traf.payload)
        let groups = try boxes.filter { try $0.type == "sgpd" && isAboutKeys($0, of: file) }
        guard groups.isEmpty, try boxes.contains(where: { try $0.type == "sbgp" && isAboutKeys($0, of: file) }) else {
            return try groups.reduce(into: []) { $0.formUnion(try entries(of: $1, in: file)) }
        }
        throw Diagnosis.unsupportedSampleGroups("a segment that refers to parameters of the init section")
    }

    /// The indexes that `sbgp` boxes assign to samples, without 0, which means no group.
    static func indexes(in boxes: [ISOBox], of file: ISOBoxes) throws -> [Int] {
        try boxes.filter { try $0.type == "sbgp" && isAboutKeys($0, of: file) }.flatMap { box -> [Int] in
            let start = box.payload.lowerBound
            let skipped = try file.number(at: start, size: 1, within: box.payload) == 1 ? 12 : 8
            let count = Int(try file.number(at: start + skipped, size: 4, within: box.payload))
            guard count <= box.payload.count / 8 else { throw Diagnosis.malformedMedia("sbgp states \(count) entries") }
            return try (0..<count).map {
                Int(try file.number(at: start + skipped + 8 + 8 * $0, size: 4, within: box.payload))
            }
        }.filter { $0 != 0 }
    }

    /// The number of entries in `sgpd` boxes. Version 0 states no length before it.
    static func count(in boxes: [ISOBox], of file: ISOBoxes) throws -> Int {
        try boxes.filter { try $0.type == "sgpd" && isAboutKeys($0, of: file) }.reduce(0) { sum, box in
            let start = box.payload.lowerBound
            let skipped = try file.number(at: start, size: 1, within: box.payload) == 0 ? 8 : 12
            return sum + Int(try file.number(at: start + skipped, size: 4, within: box.payload))
        }
    }

    private static func isAboutKeys(_ box: ISOBox, of file: ISOBoxes) throws -> Bool {
        let start = box.payload.lowerBound
        return try file.slice(at: start + 4, size: 4, within: box.payload).elementsEqual("seig".utf8)
    }

    /// The entries of an `sgpd`. Version 1 states the length of all entries, or 0 if each entry states its own. Version 2 has
    /// another field instead, and version 0 has no length.
    private static func entries(of sgpd: ISOBox, in file: ISOBoxes) throws -> Set<Self> {
        let start = sgpd.payload.lowerBound
        let version = try file.number(at: start, size: 1, within: sgpd.payload)
        guard version == 1 else { throw Diagnosis.unsupportedSampleGroups("sgpd of version \(version)") }
        let fixed = Int(try file.number(at: start + 8, size: 4, within: sgpd.payload))
        let count = try file.number(at: start + 12, size: 4, within: sgpd.payload)
        var offset = start + 16
        var entries: Set<Self> = []
        for _ in 0..<count {
            var size = fixed
            if fixed == 0 {
                size = Int(try file.number(at: offset, size: 4, within: sgpd.payload))
                offset += 4
            }
            guard size >= 20 else { throw Diagnosis.malformedMedia("key parameters of \(size) bytes") }
            entries.insert(Self(parameters: Array(try file.slice(at: offset, size: size, within: sgpd.payload))))
            offset += size
        }
        return entries
    }
}
