import Foundation
public import LatchkeyMedia
public import LatchkeyPlayback

extension DemoAsset {
    /// The hashes of the clear streams.
    public static func reference() throws -> ReferenceHashes {
        try ReferenceHashes(json: Data(contentsOf: located().appending(path: "hashes.json")))
    }
}
