/// A resource that a tenant may have a limit of. The raw values appear in metrics and in the configuration.
package enum TenantLimit: String, Sendable, Hashable, CaseIterable {
    /// Players' requests a second to one node.
    case requestsPerSecond
    /// Slots in use at the same time, on all nodes.
    case sessions
    /// Content keys in the store.
    case keys
    /// Licenses in a day of UTC, on all nodes.
    case licensesPerDay
}
