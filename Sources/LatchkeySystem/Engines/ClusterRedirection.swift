/// Why a cluster's node did not take a request itself. The raw values are labels of metrics.
package enum ClusterRedirection: String, Sendable, Hashable, CaseIterable {
    /// The slot has another primary.
    case moved
    /// The slot is moving, and the record is with the other primary already.
    case ask
    /// The slot is moving, and records that belong together are with two primaries.
    case tryAgain
    /// No primary takes commands for the slot now.
    case down
}
