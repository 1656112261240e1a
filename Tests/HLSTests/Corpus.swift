import Foundation
import LatchkeyHLS

/// The playlists with expected reports: those of the repository, and those of the shared corpus if it exists.
///
/// The shared corpus is the folder in `LATCHKEY_CORPUS`. Defaults to `../shared/corpus` next to the package.
enum Corpus {
    struct Entry: Sendable, CustomStringConvertible {
        let name: String
        let file: URL
        let playlistURI: String?
        let imports: [String: String]?
        let mustFail: Bool
        /// The expected fields of the report, as canonical JSON.
        let expected: [String: String]

        var description: String { name }
        var context: PlaylistContext { PlaylistContext(uri: playlistURI, imports: imports) }
        var bytes: Data { get throws { try Data(contentsOf: file) } }
    }

    static let fields = [
        "bytes", "playlistURI", "imports", "kind", "keyTags", "sessionKeyTags", "segments", "segmentRuns",
        "fairplayURIs", "warnings", "error",
    ]

    static let entries: [Entry] = {
        let own = Bundle.module.resourceURL.map { read($0.appending(path: "Corpus")) } ?? []
        let shared = sharedFolder.map { read($0) } ?? []
        return own + shared.filter { entry in !own.contains { $0.name == entry.name } }
    }()

    private static var sharedFolder: URL? {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let named = ProcessInfo.processInfo.environment["LATCHKEY_CORPUS"].map { URL(filePath: $0) }
        let folder = named ?? package.deletingLastPathComponent().appending(path: "shared/corpus")
        let playlists = folder.appending(path: "hls")
        return FileManager.default.fileExists(atPath: playlists.path()) ? playlists : nil
    }

    private static func read(_ folder: URL) -> [Entry] {
        let expected = try? JSONSerialization.jsonObject(
            with: Data(contentsOf: folder.appending(path: "expected.json")))
        guard let expected = expected as? [String: [String: Any]] else { return [] }
        return expected.sorted { $0.key < $1.key }.map { name, values in
            Entry(
                name: name, file: folder.appending(path: name), playlistURI: values["playlistURI"] as? String,
                imports: values["imports"] as? [String: String], mustFail: values["expect"] as? String == "fail",
                expected: canonical(values))
        }
    }

    /// Each field as JSON text with sorted keys; `missing` if it does not exist.
    static func canonical(_ values: [String: Any]) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: fields.map { field in
                let data = values[field].flatMap {
                    try? JSONSerialization.data(withJSONObject: $0, options: [.sortedKeys, .fragmentsAllowed])
                }
                return (field, data.map { String(decoding: $0, as: UTF8.self) } ?? "missing")
            })
    }
}
