public import Foundation
public import LatchkeyFairPlay

/// The contents of a simulated device's SPC, except for the content identifier.
///
/// The defaults are those of a player that starts a stream. For tests of servers, contents that no real device would send are
/// possible too.
///
/// Source: `Documentation/FairPlay.md` §4.
public struct SPCOptions: Sendable, Hashable {
    /// The player's state; `nil` leaves out the block.
    public var playbackState: PlaybackState? = .readyToStart
    /// The playback session. Defaults to a random number.
    public var playbackSession: PlaybackSessionID?
    /// The creation time in the playback block. Defaults to the device's date.
    public var created: Date?
    /// The protocol versions that the device lists.
    public var protocolVersions: [UInt32] = [1]
    /// The protocol version that the device uses.
    public var protocolVersionUsed: UInt32 = 1
    /// The device's capabilities; `nil` leaves out the block.
    public var capabilities: DeviceCapabilities? = .hdcpEnforcement
    /// Whether the SPC has a block with an empty report on stored keys.
    public var reportsOnStoredKeys = false
    /// Where the device shows the picture; `nil` leaves out the block.
    public var destination: StreamingDestination? = .device
    /// The known blocks that the CKC must return.
    package var returned: [TLLVTag] = [.transactionID]
    /// The number of blocks with random tags, lengths and values.
    public var unknownBlocks = 4
    /// The number of random blocks that the CKC must return.
    public var returnedUnknownBlocks = 2

    /// The defaults.
    public init() {}

    /// The options for renewing the lease of a key during playback.
    /// - Parameter session: the playback session, the same as in the first SPC. Defaults to a random number.
    public static func renewing(in session: PlaybackSessionID? = nil) -> SPCOptions {
        var options = SPCOptions()
        options.playbackState = .leaseExpiring
        options.playbackSession = session
        return options
    }

    /// The options for a key that the device stores: it supports offline keys and has no stored key to report.
    public static var storing: SPCOptions {
        var options = SPCOptions()
        options.capabilities = [.hdcpEnforcement, .offlineKey]
        options.reportsOnStoredKeys = true
        return options
    }
}
