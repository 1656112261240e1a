package import Foundation
package import LatchkeyCore
import LatchkeyFairPlay
package import LatchkeyForms

// The sections of a policy. Source: `Documentation/LicenseServer.md` §6.1 and §6.2.
extension Policy {
    /// How long licenses last.
    package struct Validity: Sendable, Hashable {
        /// The terms' validity. Defaults to `unlimited`.
        package internal(set) var type: LicenseTerms.Validity?
        /// When to renew, as a part of the lease, 0.1 to 0.95. Defaults to 0.8.
        package internal(set) var renewAt: Double?
        /// By how much of that time renewals are spread, 0 to 0.5. Defaults to 0.1.
        package internal(set) var jitter: Double?
        /// No license before it.
        package internal(set) var begin: Date?
        /// No license from it on, and none that lasts beyond it.
        package internal(set) var end: Date?
        /// How long after the account's first play of the content licenses are granted.
        package internal(set) var afterFirstPlay: Duration?
    }

    /// Playback from the network.
    package struct Stream: Sendable, Hashable {
        /// Defaults to true.
        package internal(set) var allow: Bool?
    }

    /// Storage on the device.
    package struct Download: Sendable, Hashable {
        /// Defaults to whether the validity lets keys be stored.
        package internal(set) var allow: Bool?
        /// How long a key is stored. Defaults to the validity's, or no limit.
        package internal(set) var storage: Duration?
        /// How long it plays after its first play. Defaults to the validity's, or no limit.
        package internal(set) var playback: Duration?
        /// Whether a stored key may be renewed. Defaults to true.
        package internal(set) var renew: Bool?
        /// How many devices of an account may hold a content.
        package internal(set) var perTitle: Int?
        /// How many contents an account may hold, each device counted.
        package internal(set) var perAccount: Int?
    }

    /// The tracks that a key may open.
    package struct Tracks: Sendable, Hashable {
        /// The classes that are licensed. Defaults to all. Once stated, a key for everything needs `ALL`.
        package internal(set) var allow: Set<TrackClass>?
        /// Defaults to `refuse`.
        package internal(set) var otherwise: TrackRemainder?
    }

    /// Where pictures may go.
    package struct Output: Sendable, Hashable {
        /// The required HDCP of a display, by class. A key for everything needs the strictest of them. Defaults to the device's choice.
        package internal(set) var hdcp: [TrackClass: HDCPRequirement]?
        /// Defaults to `allow`.
        package internal(set) var airPlay: OutputRule?
        /// Defaults to `allow`.
        package internal(set) var adapter: OutputRule?
    }

    /// The abilities that a device must have.
    package struct Client: Sendable, Hashable {
        /// Abilities that it states.
        package internal(set) var requires: Set<Ability>?
        /// Versions of the FairPlay protocol, one of which it uses. Defaults to any.
        package internal(set) var protocolVersions: Set<Int>?
    }

    /// How many devices an account may use.
    package struct Devices: Sendable, Hashable {
        package internal(set) var limit: Int?
        /// How long a device counts after its last license. Defaults to 30 days.
        package internal(set) var window: Duration?
        /// The only devices that get licenses, by their digests or the token's names. Defaults to any.
        package internal(set) var allow: Set<String>?
    }

    /// How many streams run at the same time.
    package struct Concurrency: Sendable, Hashable {
        /// Defaults to `account`.
        package internal(set) var scope: SlotScope?
        package internal(set) var limit: Int?
        /// Defaults to `refuseNewest`.
        package internal(set) var mode: LimitMode?
        /// How long a slot outlives its lease or heartbeat. Defaults to 20 s.
        package internal(set) var grace: Duration?
        /// How often a player sends a heartbeat; a slot lives for two of them. Defaults to none: slots live by leases.
        package internal(set) var heartbeat: Duration?
        /// How many streams of a class run at the same time.
        package internal(set) var perClass: [TrackGroup: Int]?
    }

    /// Where viewers are.
    package struct Place: Sendable, Hashable {
        /// The only countries. Defaults to all.
        package internal(set) var allow: Set<String>?
        package internal(set) var deny: Set<String>?
        /// The treatment of a viewer whose country is unknown, if countries are named. Defaults to `refuse`.
        package internal(set) var whenUnknown: Leave?
        /// The source that counts for the country. Defaults to any.
        package internal(set) var trust: CountrySource?
        /// The treatment of addresses that hide a place. Defaults to `allow`.
        package internal(set) var anonymizers: Leave?
        /// The only addresses. Defaults to all.
        package internal(set) var addresses: Set<AddressRange>?
        package internal(set) var denyAddresses: Set<AddressRange>?
    }

    /// The requirements on tokens.
    package struct Token: Sendable, Hashable {
        /// Whether a token is for one session only. Defaults to false.
        package internal(set) var singleUse: Bool?
        /// How long after its first use that session may use it again; zero is for one license. Defaults to 60 s.
        package internal(set) var reuse: Duration?
        /// How old a token may be. Defaults to its own end.
        package internal(set) var maxAge: Duration?
        /// Whether a token has to name the viewer's address. Defaults to false. An address that it names always counts.
        package internal(set) var bindIP: Bool?
        /// The members of a policy that a grant may widen, such as `download.allow`. A grant cannot state it.
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
        /// For one account.
        package internal(set) var licensesPerMinute: Int?
    }

    /// What happens while an engine outside is out of service.
    package struct Outage: Sendable, Hashable {
        /// Without it slots, devices and downloads cannot be counted. Defaults to `usual`.
        package internal(set) var sessionStore: OutageRule?
        /// Without it the uses of a token cannot be counted. Defaults to `usual`.
        package internal(set) var tokenStore: OutageRule?
        /// Defaults to `place.whenUnknown`.
        package internal(set) var geo: OutageRule?
        /// Defaults to `refuse`.
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
