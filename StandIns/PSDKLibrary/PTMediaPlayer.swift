public import AVFoundation
import StandInEngine

/// The metadata of an item. Empty here.
public final class PTMetadata: NSObject {
    public override init() { super.init() }
}

/// The content of a player.
public final class PTMediaPlayerItem: NSObject {
    let item: AVPlayerItem
    let loader: LoaderForwarder

    public init!(url: URL!, mediaId: String!, metadata: PTMetadata!) {
        guard let url else { return nil }
        let stage = StandInStage.current ?? StandInStage()
        let factory = PTDefaultMediaPlayerClientFactory.only(on: stage)
        let asset = AVURLAsset(url: url)
        loader = LoaderForwarder(to: factory, stage)
        asset.resourceLoader.setDelegate(loader, queue: DispatchQueue(label: "com.adobe.psdk.loader"))
        item = AVPlayerItem(asset: asset)
        factory.noteItem()
    }
}

/// Plays items. Implements only the parts of the real class that playback needs.
public final class PTMediaPlayer: NSObject {
    private var player: AVPlayer
    private(set) var item: PTMediaPlayerItem

    public init!(mediaPlayerItem: PTMediaPlayerItem!) {
        guard let mediaPlayerItem else { return nil }
        player = AVPlayer(playerItem: mediaPlayerItem.item)
        item = mediaPlayerItem
    }

    public func play() { Task { @MainActor [player] in player.play() } }

    public func pause() { Task { @MainActor [player] in player.pause() } }

    public func replaceCurrentItem(with item: PTMediaPlayerItem!) {
        guard let item else { return }
        player = AVPlayer(playerItem: item.item)
        self.item = item
    }
}
