public import Foundation
import LatchkeyCore

/// A device's opaque number for an exchange, for logs.
public struct TransactionID: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The 8 bytes as a big-endian number.
    public let rawValue: UInt64
    /// - Parameter rawValue: the 8 bytes as a big-endian number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Sixteen hexadecimal digits.
    public var description: String { rawValue.bigEndianBytes.hexString }
}

/// The number of a playback session, the same in all SPCs of one playback.
public struct PlaybackSessionID: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The 8 bytes as a big-endian number.
    public let rawValue: UInt64
    /// - Parameter rawValue: the 8 bytes as a big-endian number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Sixteen hexadecimal digits.
    public var description: String { rawValue.bigEndianBytes.hexString }
}

/// The player's state when it requests a key. Unknown numbers are preserved.
///
/// Source: `Documentation/FairPlay.md` §4, playback states.
public struct PlaybackState: RawRepresentable, Sendable, Hashable {
    /// The number on the wire.
    public let rawValue: UInt32
    /// - Parameter rawValue: the number on the wire.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Ready to start: a request for the first key.
    public static let readyToStart = PlaybackState(rawValue: 0xf4de_e5a2)
    /// Playing or paused; no key is needed.
    public static let playing = PlaybackState(rawValue: 0xa5d6_739e)
    /// Playing, with a lease that is about to expire: a renewal.
    public static let leaseExpiring = PlaybackState(rawValue: 0x4f83_4330)
    /// The playback session ended.
    public static let stopped = PlaybackState(rawValue: 0x5991_bf20)

    /// The four known states.
    package static let known: [PlaybackState] = [.readyToStart, .playing, .leaseExpiring, .stopped]
}

extension PlaybackState: CustomStringConvertible {
    public var description: String {
        switch self {
        case .readyToStart: "ready to start"
        case .playing: "playing"
        case .leaseExpiring: "lease expiring"
        case .stopped: "stopped"
        default: "unknown \(rawValue.bigEndianBytes.hexString)"
        }
    }
}

/// A player's state, session and time, as stated in an SPC.
public struct MediaPlayback: Sendable, Hashable {
    /// When the SPC was made, by the device's clock, in whole seconds. Real devices' clocks are often wrong.
    public let created: Date
    /// The player's state.
    public let state: PlaybackState
    /// The playback session.
    public let session: PlaybackSessionID

    /// - Parameters:
    ///   - created: when the SPC was made, in whole seconds.
    ///   - state: the player's state.
    ///   - session: the playback session.
    public init(created: Date, state: PlaybackState, session: PlaybackSessionID) {
        self.created = created
        self.state = state
        self.session = session
    }
}

/// Where a device shows the picture.
///
/// Source: `Documentation/FairPlay.md` §4, streaming indicator.
public enum StreamingDestination: String, Sendable, Hashable, Codable {
    /// On the device itself. The default for any other value, and for an SPC without the block.
    case device
    /// On an Apple TV, with AirPlay.
    case airPlay
    /// On a display with a digital AV adapter.
    case digitalAVAdapter
}

/// The capabilities of a device. An SPC without the block states none.
///
/// Source: `Documentation/FairPlay.md` §4, capability flags.
public struct DeviceCapabilities: OptionSet, Sendable, Hashable {
    /// The lowest 64 of the 128 flags. The others have no known meaning.
    public let rawValue: UInt64
    /// - Parameter rawValue: the lowest 64 flags.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The device can enforce an HDCP requirement.
    public static let hdcpEnforcement = DeviceCapabilities(rawValue: 1 << 0)
    /// The device can store keys.
    public static let offlineKey = DeviceCapabilities(rawValue: 1 << 1)
    /// The device can prove that it deleted a stored key.
    public static let secureInvalidation = DeviceCapabilities(rawValue: 1 << 2)
    /// The device supports version 2 of the offline key block.
    public static let offlineKeyVersion2 = DeviceCapabilities(rawValue: 1 << 3)
}
