package import Foundation
package import LatchkeyCore
import LatchkeyFairPlay
package import LatchkeyForms

// The sections of a policy; `Policy+Form.swift` explains each member. Source: `Documentation/LicenseServer.md` §6.1 and §6.2.
extension Policy {
    /// How long licenses last.
    package struct Validity: Sendable, Hashable {
        package internal(set) var type: LicenseTerms.Validity?
        package internal(set) var renewAt: Double?
        package internal(set) var jitter: Double?
        package internal(set) var begin: Date?
        package internal(set) var end: Date?
        package internal(set) var afterFirstPlay: Duration?
    }

    /// Playback from the network.
    package struct Stream: Sendable, Hashable {
        package internal(set) var allow: Bool?
    }

    /// Storage on the device.
    package struct Download: Sendable, Hashable {
        package internal(set) var allow: Bool?
        package internal(set) var storage: Duration?
        package internal(set) var playback: Duration?
        package internal(set) var renew: Bool?
        package internal(set) var perTitle: Int?
        package internal(set) var perAccount: Int?
    }

    /// The tracks that a key may open.
    package struct Tracks: Sendable, Hashable {
        package internal(set) var allow: Set<TrackClass>?
        package internal(set) var otherwise: TrackRemainder?
    }

    /// Where pictures may go.
    package struct Output: Sendable, Hashable {
        package internal(set) var hdcp: [TrackClass: HDCPRequirement]?
        package internal(set) var airPlay: OutputRule?
        package internal(set) var adapter: OutputRule?
    }

    /// The abilities that a device must have.
    package struct Client: Sendable, Hashable {
        package internal(set) var requires: Set<Ability>?
        package internal(set) var protocolVersions: Set<Int>?
    }

    /// How many devices an account may use.
    package struct Devices: Sendable, Hashable {
        package internal(set) var limit: Int?
        package internal(set) var window: Duration?
        package internal(set) var allow: Set<String>?
    }

    /// How many streams run at the same time.
    package struct Concurrency: Sendable, Hashable {
        package internal(set) var scope: SlotScope?
        package internal(set) var limit: Int?
        package internal(set) var mode: LimitMode?
        package internal(set) var grace: Duration?
        package internal(set) var heartbeat: Duration?
        package internal(set) var perClass: [TrackGroup: Int]?
    }

    /// Where viewers are.
    package struct Place: Sendable, Hashable {
        package internal(set) var allow: Set<String>?
        package internal(set) var deny: Set<String>?
        package internal(set) var whenUnknown: Leave?
        package internal(set) var trust: CountrySource?
        package internal(set) var anonymizers: Leave?
        package internal(set) var addresses: Set<AddressRange>?
        package internal(set) var denyAddresses: Set<AddressRange>?
    }

    /// The requirements on tokens.
    package struct Token: Sendable, Hashable {
        package internal(set) var singleUse: Bool?
        package internal(set) var reuse: Duration?
        package internal(set) var maxAge: Duration?
        package internal(set) var bindIP: Bool?
        package internal(set) var mayWiden: Set<String>?
    }

    /// Users, devices, tokens and contents that never get a license.
    package struct Blocked: Sendable, Hashable {
        package internal(set) var users: Set<String>?
        package internal(set) var devices: Set<String>?
        package internal(set) var tokens: Set<String>?
        package internal(set) var contents: Set<String>?
    }

    /// How many requests are answered.
    package struct Limits: Sendable, Hashable {
        package internal(set) var licensesPerMinute: Int?
    }

    /// What happens while an engine outside is out of service.
    package struct Outage: Sendable, Hashable {
        package internal(set) var sessionStore: OutageRule?
        package internal(set) var tokenStore: OutageRule?
        package internal(set) var geo: OutageRule?
        package internal(set) var callout: OutageRule?

        /// `allow:2m`, for a store of limits: no viewer is turned away, and excess grants end within two minutes.
        package static let usual = OutageRule.allowFor(.seconds(120))
    }

    /// The sections that can refuse.
    package enum Section: String, Sendable, Hashable, CaseIterable {
        case validity, stream, download, tracks, output, client, devices, concurrency, place, token, blocked, limits
        case outage
    }

    /// An ability that a device can state.
    package enum Ability: String, Sendable, Hashable, CaseIterable {
        case hdcpEnforcement, offlineKey, secureInvalidation, offlineKeyVersion2

        var flag: DeviceCapabilities {
            switch self {
            case .hdcpEnforcement: .hdcpEnforcement
            case .offlineKey: .offlineKey
            case .secureInvalidation: .secureInvalidation
            case .offlineKeyVersion2: .offlineKeyVersion2
            }
        }
    }
}
