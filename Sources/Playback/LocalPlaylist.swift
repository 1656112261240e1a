import Foundation
import LatchkeyCore

/// A media playlist for ffmpeg: identity key, local names, nothing of the original's text.
///
/// The IV comes from the content key. fMP4 has its IV in its boxes and ignores this one; transport streams need it.
///
/// Source: `media.md` §4.
struct LocalPlaylist {
    var segments: [LocalSegment]
    /// The file of the init section.
    var initialization: String?
    /// The file of the key and the IV, 16 bytes; nil for clear segments.
    var key: (file: String, iv: Data)?

    /// The playlist's text. Holds the IV, never the key.
    var text: String {
        // Durations come from a stranger's playlist and may be anything.
        let durations = segments.map { $0.duration.isFinite ? min(max($0.duration, 0), 86_400) : 0 }
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-PLAYLIST-TYPE:VOD"]
        lines.append("#EXT-X-TARGETDURATION:\(Int(max(1, durations.max() ?? 1).rounded(.up)))")
        if let key, let method = segments.first?.method {
            lines.append("#EXT-X-KEY:METHOD=\(method.rawValue),URI=\"\(key.file)\",IV=0x\(key.iv.hexString)")
        }
        if let initialization { lines.append("#EXT-X-MAP:URI=\"\(initialization)\"") }
        for (segment, duration) in zip(segments, durations) { lines += ["#EXTINF:\(duration),", segment.file] }
        return lines.joined(separator: "\n") + "\n#EXT-X-ENDLIST\n"
    }
}

/// The playlists of one stretch, written.
struct PreparedStretch {
    /// The stretch once.
    let playlist: URL
    /// The stretch with its last segment twice; nil where ffmpeg reads the first to its end.
    ///
    /// ffmpeg leaves the very last access unit of a SAMPLE-AES transport stream encrypted, so samples are read from here
    /// and counted there.
    let repeating: URL?

    /// Writes playlists, the key file and, for a rotated key, the init section that goes with it.
    /// - Parameter name: what the files' names begin with.
    init(_ stretch: Stretch, container: ContainerKind, name: String, in files: WorkingFiles) throws {
        var list = LocalPlaylist(segments: stretch.segments, initialization: stretch.segments.first?.initialization)
        if let key = stretch.key {
            list.key = ("\(name).key.bin", key.iv.revealed)
            try files.write(key.key, to: "\(name).key.bin")
        }
        if let parameters = stretch.sampleGroupKeys, let initialization = list.initialization {
            try files.write(
                parameters.patched(initialization: files.read(initialization)), to: "\(name).init.mp4")
            list.initialization = "\(name).init.mp4"
        }
        try files.write(list.text.utf8, to: "\(name).m3u8")
        playlist = files.url("\(name).m3u8")
        guard container != .fragmentedMP4, stretch.key != nil, let last = list.segments.last else {
            repeating = nil
            return
        }
        list.segments.append(last)
        try files.write(list.text.utf8, to: "\(name)-repeating.m3u8")
        repeating = files.url("\(name)-repeating.m3u8")
    }
}
