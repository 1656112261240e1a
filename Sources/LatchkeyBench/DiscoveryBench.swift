import Foundation
import LatchkeyCore
import LatchkeyHLS

/// Key discovery on the large playlist, compared with the minimum work of any reader.
struct DiscoveryBench: Sendable {
    private let playlist: Data

    init() throws { playlist = try LargePlaylist.bytes() }

    /// Bytes per second of reading the playlist up to the list of its FairPlay keys.
    func discovery(seconds: Double) throws -> Double {
        let time = try Stopwatch.threadTime(perPieceFor: seconds, batch: 1) { _ in
            guard try Playlist(playlist).fairPlayURIs.count == 200 else {
                throw Diagnosis.loadFailed("keys are missing")
            }
        }
        return Double(playlist.count) / time
    }

    /// Bytes per second of finding the line ends with `memchr` and the lines that begin with `#EXT-X-KEY`.
    func lineScan(seconds: Double) throws -> Double {
        let time = try Stopwatch.threadTime(perPieceFor: seconds, batch: 1) { _ in
            guard playlist.withUnsafeBytes(Self.keyLines) == 400 else {
                throw Diagnosis.loadFailed("lines are missing")
            }
        }
        return Double(playlist.count) / time
    }

    private static func keyLines(in bytes: UnsafeRawBufferPointer) -> Int {
        let tag = Array("#EXT-X-KEY".utf8)
        var (count, offset) = (0, 0)
        while offset < bytes.count, let start = bytes.baseAddress?.advanced(by: offset) {
            let rest = bytes.count - offset
            let length = memchr(start, 10, rest).map { UnsafeRawPointer($0) - start } ?? rest
            if length >= tag.count, memcmp(start, tag, tag.count) == 0 { count += 1 }
            offset += length + 1
        }
        return count
    }
}
