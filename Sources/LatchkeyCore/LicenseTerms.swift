/// How long, and on which outputs, a license allows its content key to be used.
///
/// Source: `Documentation/FairPlay.md` §7.
public struct LicenseTerms: Sendable, Hashable {
    /// How long the key may be used.
    public var validity: Validity
    /// The content protection that a display needs; `nil` leaves the choice to the device, which enforces type 0.
    public var hdcp: HDCPRequirement?

    /// - Parameters:
    ///   - validity: how long the key may be used. Defaults to no limit.
    ///   - hdcp: the content protection that a display needs. Defaults to the device's choice.
    public init(_ validity: Validity = .unlimited, hdcp: HDCPRequirement? = nil) {
        self.validity = validity
        self.hdcp = hdcp
    }

    /// How long a content key may be used. In whole seconds, 1 to 2³²−1, on the wire.
    public enum Validity: Sendable, Hashable {
        /// As long as the player holds it: the license states no duration.
        case unlimited
        /// Playback stops if the key is not renewed within the duration.
        case lease(Duration)
        /// Playback may start within the duration. Playback that has started continues.
        case rental(Duration)
        /// The key is renewed within the lease, and playback starts within the rental.
        case leaseAndRental(lease: Duration, rental: Duration)
        /// The key may be stored without a limit.
        case persistent
        /// The key may be stored for the duration.
        case persistentFor(Duration)
        /// The key may be stored for `storage`, counted from the download, and played for `playback`, counted from the first
        /// play.
        case dualExpiry(storage: Duration, playback: Duration)
    }
}

extension LicenseTerms {
    /// The time within which the key must be renewed; `nil` if it needs no renewal.
    package var lease: Duration? {
        switch validity {
        case .lease(let lease), .leaseAndRental(let lease, _): lease
        default: nil
        }
    }

    /// Whether the key may be stored on the device.
    package var isPersistable: Bool {
        switch validity {
        case .persistent, .persistentFor, .dualExpiry: true
        case .unlimited, .lease, .rental, .leaseAndRental: false
        }
    }
}

/// The content protection that a display connection needs.
///
/// Source: `Documentation/FairPlay.md` §7, HDCP codes.
public enum HDCPRequirement: String, Sendable, Hashable, Codable, CaseIterable {
    /// Any display.
    case notRequired
    /// HDCP type 0.
    case type0
    /// HDCP type 1.
    case type1
}
