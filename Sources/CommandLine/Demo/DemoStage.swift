import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeyServer
import LatchkeySimulation

/// What demonstrations play on: the services and the demo asset on a loopback host, test credentials, and a folder for pictures.
struct DemoStage: Sendable {
    let bench: TestBench
    let credentials: TestCredentials
    let output: URL
    let reference: ReferenceHashes
    let ffmpeg: FFmpeg

    /// Makes test credentials and starts the services.
    /// - Parameters:
    ///   - output: the folder for the pictures; made.
    ///   - log: takes one line per exchange.
    /// - Throws: where the folder cannot be made, or ffmpeg is missing.
    init(output: URL, log: @escaping @Sendable (String) -> Void) throws {
        do {
            try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        } catch {
            throw FileError.cannotWrite(output.relativePath, because: "the folder cannot be made")
        }
        credentials = try TestCredentials.make(bits: 2048)
        reference = try DemoAsset.reference()
        ffmpeg = try FFmpeg()
        let keys = try ContentKeyStore(contentsOf: DemoAsset.folder.appending(path: "keys.json"))
        bench = try TestBench.start(
            credentials: [credentials.credential], keys: keys, media: DemoAsset.folder, log: log)
        self.output = output
    }
}

/// What a demonstration prints about one stream that was played.
struct DemoLine {
    let requests: Int
    let timeToKey: Duration
    let frames: Int
    let picture: URL
    let isRight: Bool

    var text: String {
        let count = "\(requests) \(requests == 1 ? "request" : "requests")"
        let time = Int(timeToKey.inMilliseconds.rounded())
        return "key in \(count), \(time) ms   \(frames) frames decoded   \(picture.relativePath)"
            + (isRight ? "" : "   WRONG PICTURE")
    }
}
