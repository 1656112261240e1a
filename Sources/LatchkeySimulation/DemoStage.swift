package import Foundation
import LatchkeyCore
package import LatchkeyFairPlay
package import LatchkeyPlayback
import LatchkeyServices

/// The environment of demonstrations: the services and the demo streams on a loopback host, test credentials, and a folder for pictures.
package struct DemoStage: Sendable {
    package let bench: TestBench
    package let credentials: TestCredentials
    package let output: URL
    /// The page with the pictures.
    package var page: URL { output.appending(path: "index.html") }
    package let reference: ReferenceHashes
    package let ffmpeg: FFmpeg
    private let log = Locked<[String]>([])

    /// Creates test credentials and starts the services.
    /// - Parameters:
    ///   - output: the folder for the pictures, which exists.
    ///   - watch: called with the log's line of each exchange, on a thread of the services.
    /// - Throws: a `Diagnosis` `demoAssetMissing`; an error of `FFmpeg` if it is missing.
    package init(output: URL, watch: @escaping @Sendable (String) -> Void = { _ in }) throws {
        self.output = output
        credentials = try TestCredentials.make(bits: 2048)
        reference = try DemoAsset.reference()
        ffmpeg = try FFmpeg()
        bench = try TestBench.start(
            credentials: [credentials.credential], keys: DemoAsset.keys(), media: DemoAsset.located(),
            // Long enough for a slow machine: a THEOplayer source gets its token before decoding starts.
            tokenLifetime: .seconds(900),
            log: { [log] line in
                log.withLock { $0.append(line) }
                watch(line)
            })
    }

    /// Stops the services.
    /// - Returns: the log, one line for each exchange.
    package func close() async -> Data {
        await bench.host.stop(within: .seconds(2))
        return Data((log.withLock { $0 }.joined(separator: "\n") + "\n").utf8)
    }
}
