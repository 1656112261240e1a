@_spi(Adapters) package import Latchkey
package import LatchkeyCore

/// A player of a live stream on a simulated clock: no media, but every key, its lease, its renewals and its rotation.
///
/// It requests a key a little before the first segment that needs it, opens licenses with a simulated device, and requests a renewal when
/// the loader asks for one. Like AVPlayer, it holds every key to the end and does not report which keys rotated out; the playlists, which
/// hold a minute, do. At each segment it checks whether the device would decrypt it now, and skips segments that the clock jumped over.
/// If a key has ended, or its first request failed, it requests the key again from time to time, like an app that rebuilds its item.
public struct LivePlayer: Sendable {
    /// The number of segments by which keys are requested ahead of use. Defaults to 2.
    public var lookahead = 2
    /// The delay after an error or a key's end before the player requests the key again. Defaults to 10 s.
    public var retryInterval = Duration.seconds(10)

    private let stream: LiveStream
    private let loader: ContentKeyLoader
    private let maker: SimulatedDeviceMaker
    private let player: PlayerID

    /// - Parameters:
    ///   - stream: the stream to play.
    ///   - loader: gets the keys.
    ///   - applicationSecret: the test ASk that belongs to the certificate of the service, 16 bytes.
    ///   - player: distinguishes the loader's players.
    ///   - timekeeper: the clock that the stream plays by.
    package init(
        _ stream: LiveStream, loader: ContentKeyLoader, applicationSecret: Secret, player: PlayerID = .only,
        timekeeper: any Timekeeper
    ) {
        self.stream = stream
        self.loader = loader
        self.player = player
        maker = SimulatedDeviceMaker(applicationSecret: applicationSecret, certificate: nil, timekeeper: timekeeper)
    }

    /// Plays for a time that begins with the answers to the first keys. Ends early if its task is cancelled.
    /// - Returns: the events.
    public func play(for duration: Duration) async -> Report { await play(for: duration, makePlayback()) }

    func makePlayback() -> LivePlayback {
        LivePlayback(loader: loader, maker: maker, player: player, retryInterval: retryInterval)
    }

    func play(for duration: Duration, _ playback: LivePlayback) async -> Report {
        await withTaskCancellationHandler {
            playback.want(
                stream.keys(inPeriod: 0).map(\.uri),
                inPlaylists: stream.keysInPlaylists(atSegment: 0, ahead: lookahead))
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
        let count = Int(saturating: (duration / stream.segmentDuration).rounded(.up))
        var number = 0
        var schedule = Schedule(stream: stream)
        while number < count {
            let due = start + stream.segmentDuration * number
            do {
                try await timekeeper.sleep(until: due)
                try Task.checkCancellation()
            } catch {
                return
            }
            // Segments that passed while the app was suspended are lost: the live edge has moved on.
            number = max(number, Int(saturating: (timekeeper.uptime - start) / stream.segmentDuration))
            guard number < count else { return }
            playback.want(
                schedule.keys(atSegments: number...number + max(0, lookahead)).map(\.uri),
                inPlaylists: stream.keysInPlaylists(atSegment: number, ahead: lookahead))
            for key in schedule.keys(atSegments: number...number) { playback.play(key, for: stream.segmentDuration) }
            number += 1
        }
    }
}

/// The keys of a stream's segments, each computed once: a day has thousands of segments and few keys.
private struct Schedule {
    let stream: LiveStream
    private var periods: [Int: [LiveStream.Key]] = [:]

    init(stream: LiveStream) { self.stream = stream }

    mutating func keys(atSegments numbers: ClosedRange<Int>) -> [LiveStream.Key] {
        let (first, last) = (stream.period(ofSegment: numbers.lowerBound), stream.period(ofSegment: numbers.upperBound))
        return (first...last).flatMap { period in
            let keys = periods[period] ?? stream.keys(inPeriod: period)
            periods[period] = keys
            return keys
        }
    }
}
