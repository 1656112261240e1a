/// How long and on what outputs a license lets its content key be used.
///
/// Source: `fps-protocol.md` §7.
public struct LicenseTerms: Sendable, Hashable {
    /// How long the key may be used.
    public var validity: Validity
    /// What the display has to offer; nil leaves it to the device, which enforces type 0.
    public var hdcp: HDCPRequirement?

    /// - Parameters:
    ///   - validity: how long the key may be used; without a limit unless stated.
    ///   - hdcp: what the display has to offer.
    public init(_ validity: Validity = .unlimited, hdcp: HDCPRequirement? = nil) {
        self.validity = validity
        self.hdcp = hdcp
    }

    /// How long a content key may be used. Whole seconds, 1 to 2³²−1, on the wire.
    public enum Validity: Sendable, Hashable {
        /// While the player holds it: no duration stated.
        case unlimited
        /// Playback stops unless the key is renewed within the time.
        case lease(Duration)
        /// Playback may start within the time; what has started goes on.
        case rental(Duration)
        /// Both: renewed within the lease, started within the rental.
        case leaseAndRental(lease: Duration, rental: Duration)
        /// May be stored, without a limit.
        case persistent
        /// May be stored for the time.
        case persistentFor(Duration)
        /// May be stored for one time, counted from the download, and played for another, counted from the first play.
        case dualExpiry(storage: Duration, playback: Duration)
    }
}

extension LicenseTerms {
    /// The time within which the key has to be renewed; nil where no renewal is due.
    public var lease: Duration? {
        switch validity {
        case .lease(let lease), .leaseAndRental(let lease, _): lease
        default: nil
        }
    }

    /// Whether the key may be stored on the device.
    public var isPersistable: Bool {
        switch validity {
        case .persistent, .persistentFor, .dualExpiry: true
        case .unlimited, .lease, .rental, .leaseAndRental: false
        }
    }
}

/// The content protection that a display connection has to offer.
///
/// Source: `fps-protocol.md` §7, HDCP codes.
public enum HDCPRequirement: String, Sendable, Hashable, Codable, CaseIterable {
    /// Any display.
    case notRequired
    /// HDCP type 0.
    case type0
    /// HDCP type 1.
    case type1
}
