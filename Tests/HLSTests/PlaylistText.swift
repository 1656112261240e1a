import Foundation
import LatchkeyHLS

/// Playlists for tests, written line by line.
enum PlaylistText {
    static let fairPlay = #"KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1""#

    /// A media playlist: the header, a target duration (line 2) and the lines, from line 3 on.
    static func media(_ lines: [String], uri: String? = nil, imports: [String: String]? = nil) throws -> Playlist {
        try read(["#EXTM3U", "#EXT-X-TARGETDURATION:6"] + lines, PlaylistContext(uri: uri, imports: imports))
    }

    /// A multivariant playlist: the header and the lines, from line 2 on.
    static func multivariant(_ lines: [String], uri: String? = nil) throws -> Playlist {
        try read(["#EXTM3U"] + lines, PlaylistContext(uri: uri))
    }

    static func read(_ lines: [String], _ context: PlaylistContext = PlaylistContext()) throws -> Playlist {
        try Playlist(Data(lines.joined(separator: "\n").utf8), context: context)
    }

    static func key(_ uri: String, method: String = "SAMPLE-AES", _ rest: String = fairPlay) -> String {
        #"#EXT-X-KEY:METHOD=\#(method),URI="\#(uri)",\#(rest)"#
    }

    static func sessionKey(_ uri: String, method: String = "SAMPLE-AES", _ rest: String = fairPlay) -> String {
        #"#EXT-X-SESSION-KEY:METHOD=\#(method),URI="\#(uri)",\#(rest)"#
    }

    static func segment(_ name: String = "s.m4s") -> String { "#EXTINF:6,\n\(name)" }

    /// The code of the error that parsing ends with, or `nil`.
    static func code(_ body: () throws -> Playlist) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? PlaylistError)?.code ?? "another error"
        }
    }
}
