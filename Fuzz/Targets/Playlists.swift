import Foundation
import LatchkeyHLS

/// A playlist, its report and its segments. A refused playlist has a report too; a valid one has no more segments than lines.
func fuzzPlaylist(_ data: Data) {
    let context = PlaylistContext(uri: "https://host.test/a/b.m3u8?token=1", imports: ["token": "value"])
    _ = try? JSONEncoder().encode(PlaylistReport(data, context: context))
    guard let playlist = try? Playlist(data, context: context) else { return }
    let lines = data.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
    require(playlist.segmentCount <= lines, "more segments than lines")
    require(playlist.keyTags.count <= lines, "more key tags than lines")
    for run in playlist.segmentRuns {
        require(run.keys.allSatisfy(playlist.keyTags.indices.contains), "a run names a key that is not there")
    }
    if let segments = try? playlist.segments() {
        require(segments.count == playlist.segmentCount, "segments are counted and listed differently")
    }
}
