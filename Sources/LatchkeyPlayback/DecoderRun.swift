import Foundation
import LatchkeyCore

/// Consecutive segments of a track with the same key and the same init section.
///
/// ffmpeg 5.1 reads the key of fMP4 only once per playlist, and decrypts the last access unit of a transport stream with the key
/// of the next segment. So each run gets its own playlist.
///
/// Source: `Documentation/Media.md` §4.
struct DecoderRun: Equatable {
    let segments: [LocalSegment]
    /// `nil` if the segments are clear.
    let key: ContentKey?
    /// The key parameters in the segments' sample groups; `nil` if the init section's parameters apply.
    let sampleGroupKeys: SampleGroupKeys?

    /// Splits a track where its key, its init section or its timeline changes.
    /// - Throws: `Diagnosis` `keyMissing`, and the errors of `SampleGroupKeys`.
    static func runs(
        of track: LocalTrack, in directory: URL, keys: [KeyURI: ContentKey]
    ) throws -> [DecoderRun] {
        var runs: [DecoderRun] = []
        for segment in track.segments {
            let next = DecoderRun(
                segments: [segment], key: try key(of: segment, among: keys),
                sampleGroupKeys: try sampleGroupKeys(of: segment, track.container, in: directory))
            if let last = runs.last, last.continues(with: next) {
                runs[runs.count - 1] = DecoderRun(
                    segments: last.segments + [segment], key: last.key, sampleGroupKeys: last.sampleGroupKeys)
            } else {
                runs.append(next)
            }
        }
        return runs
    }

    /// The rules that its segments break; empty without a key.
    func findings(in container: ContainerKind, from files: WorkingFiles) throws -> [StreamFinding] {
        guard let key else { return [] }
        return try segments.filter { $0.method == .samples }.flatMap { segment in
            var facts = try SegmentFacts(segment, in: container, from: files)
            facts.licensedIV = key.iv.revealed
            return facts.findings
        }
    }

    private func continues(with next: DecoderRun) -> Bool {
        guard let last = segments.last, let first = next.segments.first, !first.isDiscontinuous else { return false }
        return last.method == first.method && last.initialization == first.initialization && key == next.key
            && sampleGroupKeys == next.sampleGroupKeys
    }

    private static func key(of segment: LocalSegment, among keys: [KeyURI: ContentKey]) throws -> ContentKey? {
        guard segment.method != nil else { return nil }
        if let uri = segment.keyURIs.first(where: { keys[$0] != nil }) { return keys[uri] }
        throw Diagnosis.keyMissing(segment.keyURIs.first ?? "")
    }

    private static func sampleGroupKeys(
        of segment: LocalSegment, _ container: ContainerKind, in directory: URL
    ) throws -> SampleGroupKeys? {
        guard container == .fragmentedMP4, segment.method == .samples, segment.initialization != nil else { return nil }
        return try SampleGroupKeys.read(segment: WorkingFiles(directory).read(segment.file))
    }
}
