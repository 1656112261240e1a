public import Foundation
public import LatchkeyPlayback

/// The streams that come with Latchkey: six seconds of a test pattern and a tone, encrypted in three ways, with their keys.
public enum DemoAsset: String, Sendable, CaseIterable {
    /// Fragmented MP4, `cbcs`, one key for the picture and one for the sound.
    case twoKeys = "two-keys"
    /// MPEG transport stream, SAMPLE-AES.
    case transportStream = "ts"
    /// Fragmented MP4, `cbcs`, another key from the third segment on.
    case rotation = "rotation"

    /// The folder with all of them, `keys.json` and `hashes.json`.
    public static var folder: URL {
        Bundle.module.resourceURL?.appending(path: "DemoAsset") ?? Bundle.module.bundleURL.appending(path: "DemoAsset")
    }

    /// The hashes of the clear streams.
    public static func reference() throws -> ReferenceHashes {
        try ReferenceHashes(json: Data(contentsOf: folder.appending(path: "hashes.json")))
    }
}
