import Foundation
import LatchkeyCore
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyTesting

extension DemoAsset {
    var directory: URL { Self.folder.appending(path: rawValue) }

    /// The address of the multivariant playlist.
    var playlist: String { directory.appending(path: "master.m3u8").absoluteString }

    static func contentKeys() throws -> [KeyURI: ContentKey] {
        struct Entry: Decodable { let uri, key, iv: String }
        let data = try Data(contentsOf: folder.appending(path: "keys.json"))
        let entries = try JSONDecoder().decode([String: [Entry]].self, from: data)["keys"] ?? []
        return entries.reduce(into: [:]) { keys, entry in keys[KeyURI(entry.uri)] = contentKey(entry.key, entry.iv) }
    }

    static func contentKey(_ key: String, _ iv: String) -> ContentKey? {
        ContentKey(key: Secret(Data(hexString: key) ?? Data()), iv: Secret(Data(hexString: iv) ?? Data()))
    }

    /// The asset as a download leaves it, in a temporary folder that is removed with the last reference.
    func copy() throws -> ScratchCopy {
        let scratch = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            try FileManager.default.copyItem(
                at: directory.appending(path: name), to: scratch.url.appending(path: name))
        }
        return ScratchCopy(folder: scratch, copy: LocalCopy(directory: scratch.url, tracks: tracks))
    }

    private var tracks: [LocalTrack] {
        switch self {
        case .twoKeys:
            let audio = LocalTrack(
                name: "audio", container: .fragmentedMP4,
                segments: fragments("a", Array(repeating: "skd://demo/audio", count: 3)))
            return [video(fragments("v", Array(repeating: "skd://demo/video", count: 3))), audio]
        case .rotation:
            let (first, second): (KeyURI, KeyURI) = ("skd://oLHC0+T1BhcoOUpbbH2Onw==", "skd://scLT5PUGFyg5SltsfY6foA==")
            return [video(fragments("v", [first, first, second]))]
        case .transportStream:
            let segments = (1...3).map {
                LocalSegment(file: "v/\($0).ts", duration: 2, method: .samples, keyURIs: ["skd://demo/video"])
            }
            return [LocalTrack(name: "main", container: .transportStream, segments: segments)]
        }
    }

    private func video(_ segments: [LocalSegment]) -> LocalTrack {
        LocalTrack(name: "main", container: .fragmentedMP4, segments: segments)
    }

    private func fragments(_ folder: String, _ keys: [KeyURI]) -> [LocalSegment] {
        keys.enumerated().map { index, key in
            LocalSegment(
                file: "\(folder)/\(index + 1).m4s", initialization: "\(folder)/init.mp4", duration: 2, method: .samples,
                keyURIs: [key])
        }
    }
}

/// A local copy and its folder, which is removed with the last reference.
struct ScratchCopy {
    let folder: TemporaryFolder
    var copy: LocalCopy
}
