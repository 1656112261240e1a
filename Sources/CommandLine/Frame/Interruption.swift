@preconcurrency import Dispatch
import Foundation

/// Waiting for the user to end the process: interrupt (control-C) or terminate.
enum Interruption {
    /// Returns at the first SIGINT or SIGTERM. From the call on these signals no longer end the process.
    static func first() async {
        let signals = AsyncStream<Void> { continuation in
            for number in [SIGINT, SIGTERM] {
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { continuation.yield() }
                source.resume()
                // The source lives as long as the stream.
                let previous = continuation.onTermination
                continuation.onTermination = { end in
                    source.cancel()
                    previous?(end)
                }
            }
        }
        for await _ in signals { return }
    }
}
