/// Which kind of work goes first when there is more than the threads can do.
package enum AdmissionLane: Int, Sendable, Hashable, CaseIterable {
    /// A playback that runs and would stop.
    case renewal
    /// A playback that begins.
    case start
    /// A key for a download, which can wait.
    case stored

    /// The name in metrics and logs.
    package var name: String {
        switch self {
        case .renewal: "renewal"
        case .start: "start"
        case .stored: "stored"
        }
    }

    /// How many pieces of work of this lane are done in the time of a round: 4, 2, 1.
    var weight: Int {
        switch self {
        case .renewal: 4
        case .start: 2
        case .stored: 1
        }
    }
}

/// Why a piece of work was turned away.
package enum ShedReason: String, Sendable, Hashable, CaseIterable {
    /// As much waits as may wait.
    case full
    /// It waited longer than its client does.
    case late
    /// The server is about to stop.
    case draining
}
