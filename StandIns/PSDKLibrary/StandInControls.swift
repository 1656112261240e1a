public import AVFoundation
import StandInEngine

extension PTMediaPlayer {
    /// What a test may see of a player, and do with it. Not in Adobe's SDK; adapters must not use it.
    public var standIn: AVPlayerItem.StandIn { item.item.standIn }
}
