import AVFoundation
import Latchkey
import LatchkeyAVFoundation

/// Counts the loader's events and the keys' notices and failures during a play.
actor KeyWatch {
    private(set) var licenses = 0
    private(set) var renewals = 0
    private(set) var held = 0
    private(set) var succeeded = 0
    private(set) var stored = 0
    private(set) var streamedInstead = 0
    private(set) var failures: [String] = []

    /// Counts the events of a loader from now on.
    func follow(_ events: AsyncStream<KeyEvent>) async {
        for await event in events {
            switch event.kind {
            case .answered: licenses += 1
            case .renewalDue: renewals += 1
            case .heldBySystem: held += 1
            case .keyStored: stored += 1
            default: break
            }
        }
    }

    /// Counts a notice.
    func note(_ notice: AVPlayerKeys.Notice) {
        switch notice {
        case .succeeded: succeeded += 1
        case .streamedInstead: streamedInstead += 1
        default: break
        }
    }

    /// Counts a failure.
    func note(_ failure: KeyFailure) { failures.append("\(failure.error.domain) \(failure.error.code)") }

    var summary: String {
        "licenses \(licenses), renewals \(renewals), held by the system \(held), taken \(succeeded), stored \(stored), "
            + "streamed instead \(streamedInstead), failures \(failures)"
    }
}
