import LatchkeyCore

/// The samples of one track in one fragment, and their stated encryption.
///
/// Source: ISO/IEC 14496-12 §8.7.8, §8.7.9, §8.8.7, §8.8.8 and §8.9; ISO/IEC 23001-7 §7.2 and §9.5.
struct TrackFragment: Sendable, Hashable {
    /// The bytes of each sample: `trun`.
    private(set) var sampleSizes: [Int] = []
    /// The subsamples of each sample; `nil` if absent.
    private(set) var subsamples: [[Subsample]]?
    /// The number of samples in `senc`; `nil` if absent.
    private(set) var encryptedSamples: Int?
    /// The number of samples in `saiz`; `nil` if absent.
    private(set) var sizedSamples: Int?
    /// Whether `saio` points to the entries of `senc`; `nil` if either is missing or the position is unknown.
    private(set) var leadsToEntries: Bool?
    /// The group indexes in `sbgp` boxes of the type `seig`.
    private(set) var groupIndexes: [Int] = []
    /// The number of `seig` entries of the fragment.
    private(set) var groups = 0

    /// A number of clear bytes, and a number of bytes to which the pattern applies.
    struct Subsample: Hashable {
        let clear, protected: Int
    }

    /// - Parameters:
    ///   - ivSize: the size in bytes of each sample's own IV.
    ///   - sampleSize: the size in bytes of samples whose fragment states none.
    /// - Throws: `Diagnosis` `malformedMedia`.
    init(_ boxes: FragmentBoxes, of file: ISOBoxes, ivSize: Int, sampleSize: Int) throws {
        for run in boxes.all where run.type == "trun" {
            sampleSizes += try Self.sizes(run.payload, of: file, boxes.sampleSize ?? sampleSize)
        }
        groupIndexes = try SampleGroupKeys.indexes(in: boxes.all, of: file)
        groups = try SampleGroupKeys.count(in: boxes.all, of: file)
        if let senc = boxes.all.first(where: { $0.type == "senc" })?.payload {
            let flags = try file.number(at: senc.lowerBound, size: 4, within: senc)
            let count = Int(try file.number(at: senc.lowerBound + 4, size: 4, within: senc))
            encryptedSamples = count
            if flags & 2 == 2 {
                subsamples = try Self.subsamples(count, at: senc.lowerBound + 8, ivSize, within: senc, of: file)
            }
            leadsToEntries = try boxes.auxiliaryOffset(of: file).map { $0 == senc.lowerBound + 8 }
        }
        guard let saiz = boxes.all.first(where: { $0.type == "saiz" })?.payload else { return }
        let fields = try file.number(at: saiz.lowerBound, size: 4, within: saiz) & 1 == 1 ? 12 : 4
        sizedSamples = Int(try file.number(at: saiz.lowerBound + fields + 1, size: 4, within: saiz))
        // The entries may be elsewhere in the segment; a size that fits only the IV leaves no room for subsamples.
        let fixed = Int(try file.number(at: saiz.lowerBound + fields, size: 1, within: saiz))
        if encryptedSamples == nil, fixed != ivSize || fixed == 0, let count = sizedSamples,
            let place = try boxes.auxiliaryOffset(of: file)
        {
            subsamples = try Self.subsamples(count, at: place, ivSize, within: 0..<file.bytes.count, of: file)
        }
    }

    /// More than ten hours of audio.
    private static let mostSamples = 1 << 20

    private static func sizes(_ run: Range<Int>, of file: ISOBoxes, _ standard: Int) throws -> [Int] {
        let flags = Int(try file.number(at: run.lowerBound, size: 4, within: run))
        let count = Int(try file.number(at: run.lowerBound + 4, size: 4, within: run))
        let steps = [0x100, 0x200, 0x400, 0x800].map { flags & $0 == 0 ? 0 : 4 }
        guard count <= Self.mostSamples else { throw Diagnosis.malformedMedia("a fragment of \(count) samples") }
        guard steps[1] > 0 else { return Array(repeating: standard, count: count) }
        var offset = run.lowerBound + 8 + (flags & 1 == 1 ? 4 : 0) + (flags & 4 == 4 ? 4 : 0)
        return try (0..<count).map { _ in
            defer { offset += steps.reduce(0, +) }
            return Int(try file.number(at: offset + steps[0], size: 4, within: run))
        }
    }

    private static func subsamples(
        _ count: Int, at place: Int, _ ivSize: Int, within range: Range<Int>, of file: ISOBoxes
    ) throws -> [[Subsample]] {
        guard count <= mostSamples else { throw Diagnosis.malformedMedia("\(count) encrypted samples") }
        var offset = place
        var samples: [[Subsample]] = []
        for _ in 0..<count {
            let entries = Int(try file.number(at: offset + ivSize, size: 2, within: range))
            offset += ivSize + 2
            samples.append(
                try (0..<entries).map { _ in
                    defer { offset += 6 }
                    return Subsample(
                        clear: Int(try file.number(at: offset, size: 2, within: range)),
                        protected: Int(try file.number(at: offset + 2, size: 4, within: range)))
                })
        }
        return samples
    }
}

/// The boxes of one track in one fragment: `traf`.
struct FragmentBoxes {
    /// The track's ID.
    let track: UInt64
    /// The index of the sample entry in `tfhd`, counted from 1; `nil` if absent.
    let description: UInt64?
    /// The size in bytes of each sample; `nil` if `tfhd` states none.
    let sampleSize: Int?
    let all: [ISOBox]
    /// The start of the fragment; `nil` if offsets have another base.
    private let base: Int?

    fileprivate init?(_ traf: ISOBox, at start: Int, isFirst: Bool, of file: ISOBoxes) throws {
        all = try file.boxes(in: traf.payload)
        guard let header = all.first(where: { $0.type == "tfhd" })?.payload else { return nil }
        let flags = Int(try file.number(at: header.lowerBound, size: 4, within: header))
        track = try file.number(at: header.lowerBound + 4, size: 4, within: header)
        var offset = header.lowerBound + 8 + (flags & 1 == 1 ? 8 : 0)
        description = flags & 2 == 2 ? try file.number(at: offset, size: 4, within: header) : nil
        offset += (flags & 2 == 2 ? 4 : 0) + (flags & 8 == 8 ? 4 : 0)
        sampleSize = flags & 0x10 == 0x10 ? Int(try file.number(at: offset, size: 4, within: header)) : nil
        base = flags & 1 == 0 && (isFirst || flags & 0x20000 != 0) ? start : nil
    }

    /// The offset in `saio`, in bytes from the start of the segment; `nil` if absent or unknown.
    func auxiliaryOffset(of file: ISOBoxes) throws -> Int? {
        guard let base, let saio = all.first(where: { $0.type == "saio" })?.payload else { return nil }
        let version = try file.number(at: saio.lowerBound, size: 1, within: saio)
        let fields = try file.number(at: saio.lowerBound, size: 4, within: saio) & 1 == 1 ? 12 : 4
        guard try file.number(at: saio.lowerBound + fields, size: 4, within: saio) > 0 else { return nil }
        let offset = try file.number(at: saio.lowerBound + fields + 4, size: version == 0 ? 4 : 8, within: saio)
        return base + Int(clamping: min(offset, UInt64(file.bytes.count)))
    }
}

extension ISOBoxes {
    /// The fragments of a segment, track by track.
    func fragmentBoxes() throws -> [FragmentBoxes] {
        try boxes().filter { $0.type == "moof" }.flatMap { moof in
            try children(of: moof, type: "traf").enumerated().compactMap { index, traf in
                try FragmentBoxes(traf, at: moof.range.lowerBound, isFirst: index == 0, of: self)
            }
        }
    }
}
