public import Foundation
public import LatchkeyFairPlay

/// What a simulated device puts into an SPC beside the content identifier.
///
/// The defaults are those of a player that starts a stream. What no real device would say is possible too, so that
/// servers can be tested with it.
///
/// Source: `fps-protocol.md` §4.
public struct SPCOptions: Sendable, Hashable {
    /// What the player does; nil leaves the block out.
    public var playbackState: PlaybackState? = .readyToStart
    /// The playback session; drawn where nil.
    public var playbackSession: PlaybackSessionID?
    /// The creation time in the playback block; the device's date where nil.
    public var created: Date?
    /// The protocol versions that the device lists.
    public var protocolVersions: [UInt32] = [1]
    /// The protocol version that the device uses.
    public var protocolVersionUsed: UInt32 = 1
    /// What the device can do; nil leaves the block out.
    public var capabilities: DeviceCapabilities? = .hdcpEnforcement
    /// Whether there is a block that reports on stored keys; it reports nothing.
    public var reportsOnStoredKeys = false
    /// Where the picture goes; nil leaves the block out.
    public var destination: StreamingDestination? = .device
    /// The known blocks that the CKC has to bring back.
    public var returned: [TLLVTag] = [.transactionID]
    /// How many blocks with random tags, lengths and values there are.
    public var unknownBlocks = 4
    /// How many of these the CKC has to bring back.
    public var returnedUnknownBlocks = 2

    /// The defaults.
    public init() {}

    /// What a player says that plays while the lease of its key is about to end.
    /// - Parameter session: the playback session, the same as in the first SPC; drawn where nil.
    public static func renewing(in session: PlaybackSessionID? = nil) -> SPCOptions {
        var options = SPCOptions()
        options.playbackState = .leaseExpiring
        options.playbackSession = session
        return options
    }

    /// What a device says that stores the key: it can, and has nothing to report on a key that it stored.
    public static var storing: SPCOptions {
        var options = SPCOptions()
        options.capabilities = [.hdcpEnforcement, .offlineKey]
        options.reportsOnStoredKeys = true
        return options
    }
}
