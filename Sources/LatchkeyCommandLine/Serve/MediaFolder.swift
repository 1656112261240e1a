import Foundation
import LatchkeyHLS

/// The streams of a folder, found by their multivariant playlists.
struct MediaFolder: Sendable {
    /// A playlist for a player.
    struct Stream: Sendable, Encodable, Equatable {
        /// Where it is, relative to the folder, such as `two-keys/master.m3u8`.
        let path: String
        /// The number of its FairPlay keys; `nil` if its playlists cannot be read.
        let keys: Int?
    }

    let streams: [Stream]

    /// Streams above this number are served but not listed.
    static let streamLimit = 20
    private static let fileLimit = 10_000

    /// Searches a folder: for multivariant playlists, or all playlists if none is multivariant.
    init(_ folder: URL) async {
        let playlists = Self.playlists(in: folder)
        let multivariant = playlists.filter { Self.isMultivariant(folder.appending(path: $0)) }
        var streams: [Stream] = []
        for path in (multivariant.isEmpty ? playlists : multivariant).sorted().prefix(Self.streamLimit) {
            streams.append(Stream(path: path, keys: await Self.keyCount(of: folder.appending(path: path))))
        }
        self.streams = streams
    }

    /// The stream for demonstrating a vendor: one with a single key if the vendor's requests name no key.
    func stream(namingKeys: Bool) -> Stream? {
        namingKeys ? streams.first : streams.first { $0.keys == 1 } ?? streams.first
    }

    private static func playlists(in folder: URL) -> [String] {
        guard let files = FileManager.default.enumerator(atPath: folder.path) else { return [] }
        var found: [String] = []
        for case let path as String in files.lazy.prefix(fileLimit) where path.lowercased().hasSuffix(".m3u8") {
            // Hidden files are not served.
            if !path.split(separator: "/").contains(where: { $0.hasPrefix(".") }) { found.append(path) }
        }
        return found
    }

    private static func isMultivariant(_ file: URL) -> Bool {
        guard let playlist = try? read(file) else { return false }
        return (try? Playlist(playlist).kind) == .multivariant
    }

    private static func keyCount(of file: URL) async -> Int? {
        let fetcher = PlaylistFetcher { uri in
            guard let url = URL(string: uri), url.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
            return FetchedPlaylist(bytes: try read(url), uri: uri)
        }
        let discovered = try? await KeyDiscovery(fetcher, scope: .everyMediaPlaylist).keys(at: file.absoluteString)
        return discovered.map { Set($0.fairPlayURIs).count }
    }

    private static func read(_ file: URL) throws -> Data {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        return try handle.read(upToCount: 4 << 20) ?? Data()
    }
}
