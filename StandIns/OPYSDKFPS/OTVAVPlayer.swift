public import AVFoundation
import StandInEngine

/// A player whose keys come from the license delegate of `OTVDRMManager`.
open class OTVAVPlayer: AVPlayer {
    nonisolated let client: KeyClient

    public override nonisolated init(url URL: Foundation.URL) {
        let stage = StandInStage.current ?? StandInStage()
        // The manager of the stage on which the player is made, even if a key is requested elsewhere.
        let manager = OTVDRMManager.only(on: stage)
        manager.notePlayer(on: stage)
        let asset = AVURLAsset(url: URL)
        client = KeyClient(manager, stage)
        client.session.addContentKeyRecipient(asset)
        super.init(playerItem: AVPlayerItem(asset: asset))
    }

    deinit { client.stop() }

    /// Plays another item, with keys from the same delegate.
    open override func replaceCurrentItem(with item: AVPlayerItem?) {
        client.stop()
        if let asset = item?.asset as? AVURLAsset { client.session.addContentKeyRecipient(asset) }
        super.replaceCurrentItem(with: item)
    }
}
