import LatchkeyCore
import LatchkeyFairPlay

/// When the keys of playback sessions were licensed; the latest 10,000.
final class RenewalTimes: Sendable {
    private struct Subject: Hashable {
        let session: PlaybackSessionID
        let key: KeyID
    }

    private let times = Locked(BoundedDictionary<Subject, Duration>(limit: 10_000))

    /// Records a license.
    /// - Returns: for a renewal, the time since the same session's last license of the key; otherwise `nil`.
    func timeSinceLast(_ license: IssuedLicense, at now: Duration) -> Duration? {
        guard let playback = license.playback else { return nil }
        let subject = Subject(session: playback.session, key: license.key.id)
        let last = times.withLock { $0.updateValue(now, forKey: subject) }
        return playback.state == .leaseExpiring ? last.map { now - $0 } : nil
    }
}
