public import AVFoundation
import StandInEngine

extension PTMediaPlayer {
    /// The controls of the player, for tests. Not in Adobe's SDK; adapters must not use it.
    public var standIn: AVPlayerItem.StandIn { item.item.standIn }
}
