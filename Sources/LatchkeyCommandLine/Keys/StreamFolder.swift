import Foundation
import LatchkeyHLS
import LatchkeySystem

/// A folder as a packager leaves it.
enum StreamFolder {
    /// The playlist to begin with: a folder's multivariant playlist, or its only media playlist; any other place unchanged.
    /// - Throws: `FileError` if there is none, or more than one.
    static func playlist(_ place: String) throws -> String {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder), isFolder.boolValue else {
            return place
        }
        let folder = URL(filePath: place, directoryHint: .isDirectory).resolvingSymlinksInPath()
        let files =
            FileManager.default.enumerator(atPath: folder.path)?.prefix(mostFiles).compactMap { $0 as? String } ?? []
        let names = files.filter { $0.lowercased().hasSuffix(".m3u8") }.sorted()
        let kinds = names.map { name in
            (name, (try? Data(contentsOf: folder.appending(path: name))).flatMap { try? Playlist($0) }?.kind)
        }
        let first = kinds.filter { $0.1 == .multivariant }
        let roots = first.isEmpty ? kinds.filter { $0.1 == .media } : first
        guard let root = roots.first, roots.count == 1 else {
            let found =
                roots.isEmpty
                ? "no playlist" : "\(roots.count) playlists: \(roots.prefix(4).map(\.0).joined(separator: ", "))"
            throw FileError(
                code: "folderOfPlaylists", reason: "The folder \(folder.lastPathComponent) has \(found).",
                remedy: "Name the playlist that the player opens.")
        }
        return folder.appending(path: root.0).path
    }

    private static let mostFiles = 10_000
}
