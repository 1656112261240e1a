/// When the keys of a vendor are renewed. What the license says about its lease goes before.
///
/// Source: `vendors.md` §23.10.
public struct RenewalPolicy: Sendable, Hashable, Codable {
    /// How long before its end a lease is renewed at least, in seconds; 60 unless given.
    public var minimumLead: Int
    /// The shortest time between two renewals that the service takes, in seconds; 0 unless given.
    public var minimumInterval: Int
    /// A fixed time between renewals, in seconds, for a service that states no lease; none unless given.
    public var interval: Int?
    /// Whether a stored key can be renewed without downloading again; yes unless given.
    public var renewsStoredKeys: Bool

    /// Makes a policy.
    public init(minimumLead: Int = 60, minimumInterval: Int = 0, interval: Int? = nil, renewsStoredKeys: Bool = true) {
        self.minimumLead = minimumLead
        self.minimumInterval = minimumInterval
        self.interval = interval
        self.renewsStoredKeys = renewsStoredKeys
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let standard = RenewalPolicy()
        self.init(
            minimumLead: try container.decodeIfPresent(Int.self, forKey: .minimumLead) ?? standard.minimumLead,
            minimumInterval: try container.decodeIfPresent(Int.self, forKey: .minimumInterval)
                ?? standard.minimumInterval,
            interval: try container.decodeIfPresent(Int.self, forKey: .interval),
            renewsStoredKeys: try container.decodeIfPresent(Bool.self, forKey: .renewsStoredKeys)
                ?? standard.renewsStoredKeys)
    }
}
