public import Latchkey
public import LatchkeyCore

/// A player of a live stream on a simulated clock: no media, but every key, its lease, its renewals and its rotation.
///
/// It asks the loader for a key a little before the first segment that needs it, opens licenses with a simulated device, asks
/// again when the loader wants a renewal, and lets go of keys that rotated out. At each segment it checks whether the device
/// would decrypt it now; segments that the clock jumped over are skipped. Where a key's life ended, or its first request failed, it asks for the key anew from time to time, as
/// an app does that rebuilds its item.
public struct LivePlayer: Sendable {
    /// How many segments ahead of their use keys are asked for; 2 unless set.
    public var lookahead = 2
    /// How long after an error or a key's end the player asks for the key again; 10 s unless set.
    public var retryInterval = Duration.seconds(10)

    private let stream: LiveStream
    private let loader: ContentKeyLoader
    private let maker: SimulatedDeviceMaker
    private let player: PlayerID
    private let release: @Sendable (KeyRequestHandle) -> Void

    /// - Parameters:
    ///   - stream: what is played.
    ///   - loader: gets the keys.
    ///   - applicationSecret: the test ASk that belongs to the certificate of the service, 16 bytes.
    ///   - player: tells the loader's players apart.
    ///   - timekeeper: the clock that the stream plays by.
    ///   - release: tells the loader that the player does not need a key any more.
    public init(
        _ stream: LiveStream, loader: ContentKeyLoader, applicationSecret: Secret, player: PlayerID = .only,
        timekeeper: any Timekeeper, release: @escaping @Sendable (KeyRequestHandle) -> Void
    ) {
        self.stream = stream
        self.loader = loader
        self.player = player
        self.release = release
        maker = SimulatedDeviceMaker(applicationSecret: applicationSecret, certificate: nil, timekeeper: timekeeper)
    }

    /// Plays for a time, beginning when the first keys were answered. Ends early where its task is cancelled.
    /// - Returns: what happened.
    public func play(for duration: Duration) async -> Report { await play(for: duration, makePlayback()) }

    func makePlayback() -> LivePlayback {
        LivePlayback(loader: loader, maker: maker, player: player, retryInterval: retryInterval, release: release)
    }

    func play(for duration: Duration, _ playback: LivePlayback) async -> Report {
        await withTaskCancellationHandler {
            playback.want(keys(atSegments: 0...0))
            await playback.untilAnswered()
            await playSegments(for: duration, playback)
        } onCancel: {
            playback.close()
        }
        playback.close()
        return playback.report
    }

    private func playSegments(for duration: Duration, _ playback: LivePlayback) async {
        let timekeeper = maker.timekeeper
        let start = timekeeper.uptime
        let count = Int((duration / stream.segmentDuration).rounded(.up))
        var number = 0
        while number < count {
            let due = start + stream.segmentDuration * number
            do {
                try await timekeeper.sleep(for: due - timekeeper.uptime)
                try Task.checkCancellation()
            } catch {
                return
            }
            // What went by while the app was suspended is gone: the live edge has moved on.
            number = max(number, Int((timekeeper.uptime - start) / stream.segmentDuration))
            guard number < count else { return }
            playback.want(keys(atSegments: number...number + max(0, lookahead)))
            for key in stream.keys(atSegment: number) { playback.play(key, for: stream.segmentDuration) }
            number += 1
        }
    }

    private func keys(atSegments numbers: ClosedRange<Int>) -> [KeyURI] {
        var seen: Set<KeyURI> = []
        return numbers.flatMap(stream.keys(atSegment:)).map(\.uri).filter { seen.insert($0).inserted }
    }
}
