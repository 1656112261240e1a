import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyServer

/// When the keys of playback sessions were licensed; the latest 10,000.
final class RenewalTimes: Sendable {
    private struct Subject: Hashable {
        let session: PlaybackSessionID
        let key: KeyID
    }

    private let times = Locked<(latest: [Subject: Duration], order: [Subject])>(([:], []))

    /// Notes a license.
    /// - Returns: for a renewal, how long ago the same session's license of the key before was; else nil.
    func timeSinceLast(_ license: IssuedLicense, at now: Duration) -> Duration? {
        guard let playback = license.playback else { return nil }
        let subject = Subject(session: playback.session, key: license.key.id)
        return times.withLock { times in
            let last = times.latest.updateValue(now, forKey: subject)
            if last == nil {
                times.order.append(subject)
                if times.order.count > 10_000 { times.latest[times.order.removeFirst()] = nil }
            }
            return playback.state == .leaseExpiring ? last.map { now - $0 } : nil
        }
    }
}
