/// When the keys of a vendor are renewed. The lease in a license takes precedence.
///
/// Source: `Documentation/Vendors/README.md` §23.10.
@_spi(Integrations) public struct RenewalPolicy: Sendable, Hashable {
    /// The least time between a renewal and the end of the lease, in seconds. Defaults to 60.
    public var minimumLead: Int
    /// The shortest time between two renewals that the service accepts, in seconds. Defaults to 0.
    public var minimumInterval: Int
    /// A fixed time between renewals, in seconds, for a service that states no lease. Defaults to `nil`.
    public var interval: Int?
    /// Whether a stored key can be renewed without a new download. Defaults to `true`.
    public var renewsStoredKeys: Bool
    /// How long a key of a streaming license may be kept for replays, in seconds, if the vendor documents that. Defaults to `nil`: not
    /// at all.
    public var cacheLifetime: Int?

    /// Makes a policy.
    public init(
        minimumLead: Int = 60, minimumInterval: Int = 0, interval: Int? = nil, renewsStoredKeys: Bool = true,
        cacheLifetime: Int? = nil
    ) {
        self.minimumLead = minimumLead
        self.minimumInterval = minimumInterval
        self.interval = interval
        self.renewsStoredKeys = renewsStoredKeys
        self.cacheLifetime = cacheLifetime
    }
}
