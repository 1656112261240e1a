import Foundation
import LatchkeyCore

/// A media playlist for ffmpeg: an identity key and local names. It contains no text from the original.
///
/// The IV comes from the content key. Transport streams need it; fMP4 has an IV in its boxes and ignores this one.
///
/// Source: `Documentation/Media.md` §4.
struct LocalPlaylist {
    var segments: [LocalSegment]
    /// The name of the init section's file.
    var initialization: String?
    /// The name of the key file, and the IV of 16 bytes; `nil` for clear segments.
    var key: (file: String, iv: Data)?

    /// The playlist's text. Contains the IV but not the key.
    var text: String {
        // Durations come from an untrusted playlist and can have any value.
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

/// The playlists of one run, as files.
struct PreparedRun {
    /// The playlist of the run.
    let playlist: URL
    /// The same playlist with the last segment repeated; `nil` if ffmpeg reads the first one completely.
    ///
    /// ffmpeg leaves the last access unit of a SAMPLE-AES transport stream encrypted. So samples are read from this playlist and
    /// counted in the other one.
    let repeating: URL?

    /// The playlist that ffmpeg reads every sample of.
    var complete: URL { repeating ?? playlist }

    /// Writes the playlists, the key file and, for a rotated key, its init section.
    /// - Parameter name: the prefix of the file names.
    init(_ run: DecoderRun, container: ContainerKind, name: String, in files: WorkingFiles) throws {
        var list = LocalPlaylist(segments: run.segments, initialization: run.segments.first?.initialization)
        if let key = run.key {
            list.key = ("\(name).key.bin", key.iv.revealed)
            try files.write(key.key, to: "\(name).key.bin")
        }
        if let parameters = run.sampleGroupKeys, let initialization = list.initialization {
            try files.write(
                parameters.patched(initialization: files.read(initialization)), to: "\(name).init.mp4")
            list.initialization = "\(name).init.mp4"
        }
        try files.write(list.text.utf8, to: "\(name).m3u8")
        playlist = files.url("\(name).m3u8")
        guard container != .fragmentedMP4, run.key != nil, let last = list.segments.last else {
            repeating = nil
            return
        }
        list.segments.append(last)
        try files.write(list.text.utf8, to: "\(name)-repeating.m3u8")
        repeating = files.url("\(name)-repeating.m3u8")
    }
}
