public import Foundation
import LatchkeyCore

/// The streams that come with Latchkey: six seconds of a test pattern and a tone, encrypted in three ways, with their keys.
public enum DemoAsset: String, Sendable, CaseIterable {
    /// Fragmented MP4, `cbcs`, one key for the picture and one for the sound.
    case twoKeys = "two-keys"
    /// MPEG transport stream, SAMPLE-AES.
    case transportStream = "ts"
    /// Fragmented MP4, `cbcs`, another key from the third segment on.
    case rotation = "rotation"

    /// The folder with all streams, `keys.json` and `hashes.json`; its first expected location if it is missing.
    public static var folder: URL { (try? located()) ?? places[0] }

    /// Finds the folder: next to the program, where a build leaves it, or in `../share/latchkey`, where `make install` puts it.
    /// - Throws: a `Diagnosis` `demoAssetMissing`.
    public static func located() throws -> URL {
        let found = places.first { FileManager.default.fileExists(atPath: $0.appending(path: "keys.json").path) }
        guard let found else { throw Diagnosis.demoAssetMissing(places) }
        return found
    }

    /// The keys of all streams.
    package static func keys() throws -> ContentKeyStore {
        try ContentKeyStore(contentsOf: located().appending(path: "keys.json"))
    }

    /// The possible locations of the folder. `Bundle.module` would work for a build, but ends the process if the folder is missing.
    private static var places: [URL] {
        let program = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
        let builds =
            [program ?? Bundle.main.bundleURL] + Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        let resources = ["resources/DemoAsset", "bundle/DemoAsset", "bundle/Contents/Resources/DemoAsset"]
        let beside = builds.flatMap { folder in
            resources.map { folder.appending(path: "latchkey_LatchkeyMedia.\($0)") }
        }
        let shared = program?.deletingLastPathComponent().appending(path: "share/latchkey/DemoAsset")
        return Array(beside.prefix(1)) + [shared].compactMap { $0 } + beside.dropFirst()
    }
}

extension Diagnosis {
    /// The demo streams are not in any expected location, for example because the program was copied without them.
    fileprivate static func demoAssetMissing(_ places: [URL]) -> Diagnosis {
        Diagnosis(
            code: "demoAssetMissing",
            reason: "The demo streams are neither in \(places.prefix(2).map(\.path).joined(separator: " nor in ")).",
            remedy: "Install with make install PREFIX=…, or also copy the folder that a build puts next to the program."
        )
    }
}
