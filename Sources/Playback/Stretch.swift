import Foundation
import LatchkeyCore

/// Consecutive segments of one track that one key and one init section open.
///
/// ffmpeg 5.1 takes the key of fMP4 once, when it opens a playlist, and decrypts the last access unit of a transport
/// stream with the key of the segment behind it. So each stretch is a playlist of its own.
///
/// Source: `media.md` §4.
struct Stretch: Equatable {
    let segments: [LocalSegment]
    /// nil where the segments are clear.
    let key: ContentKey?
    /// What the segments' sample groups say; nil when the init section is right as it is.
    let sampleGroupKeys: SampleGroupKeys?

    /// Cuts a track where its key, its init section or its timeline changes.
    /// - Throws: `PlaybackError` `keyMissing`, and those of `SampleGroupKeys`.
    static func stretches(
        of track: LocalTrack, in directory: URL, keys: [KeyURI: ContentKey]
    ) throws -> [Stretch] {
        var stretches: [Stretch] = []
        for segment in track.segments {
            let next = Stretch(
                segments: [segment], key: try key(of: segment, among: keys),
                sampleGroupKeys: try sampleGroupKeys(of: segment, track.container, in: directory))
            if let last = stretches.last, last.continues(with: next) {
                stretches[stretches.count - 1] = Stretch(
                    segments: last.segments + [segment], key: last.key, sampleGroupKeys: last.sampleGroupKeys)
            } else {
                stretches.append(next)
            }
        }
        return stretches
    }

    private func continues(with next: Stretch) -> Bool {
        guard let last = segments.last, let first = next.segments.first, !first.isDiscontinuous else { return false }
        return last.method == first.method && last.initialization == first.initialization && key == next.key
            && sampleGroupKeys == next.sampleGroupKeys
    }

    private static func key(of segment: LocalSegment, among keys: [KeyURI: ContentKey]) throws -> ContentKey? {
        guard segment.method != nil else { return nil }
        if let uri = segment.keyURIs.first(where: { keys[$0] != nil }) { return keys[uri] }
        throw PlaybackError.keyMissing(segment.keyURIs.first ?? "")
    }

    private static func sampleGroupKeys(
        of segment: LocalSegment, _ container: ContainerKind, in directory: URL
    ) throws -> SampleGroupKeys? {
        guard container == .fragmentedMP4, segment.method == .samples, segment.initialization != nil else { return nil }
        return try SampleGroupKeys.read(segment: WorkingFiles(directory).read(segment.file))
    }
}
