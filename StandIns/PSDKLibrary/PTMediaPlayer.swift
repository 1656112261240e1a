public import AVFoundation
import LatchkeyCore
import StandInEngine

/// What describes an item. Empty here.
public final class PTMetadata: NSObject, Sendable {
    public override init() { super.init() }
}

/// What a player plays.
public final class PTMediaPlayerItem: NSObject, Sendable {
    let item: AVPlayerItem
    let loader: LoaderForwarder

    public init!(url: URL!, mediaId: String!, metadata: PTMetadata!) {
        guard let url else { return nil }
        let stage = StandInStage.current ?? StandInStage()
        let factory = stage.only { PTDefaultMediaPlayerClientFactory() }
        let asset = AVURLAsset(url: url)
        loader = LoaderForwarder(to: factory, stage)
        asset.resourceLoader.setDelegate(loader, queue: DispatchQueue(label: "com.adobe.psdk.loader"))
        item = AVPlayerItem(asset: asset)
        factory.noteItem()
    }
}

/// Plays items. Stands in for as much of the real class as playing takes.
public final class PTMediaPlayer: NSObject, Sendable {
    private let current: Locked<(player: AVPlayer, item: PTMediaPlayerItem)>

    public init!(mediaPlayerItem: PTMediaPlayerItem!) {
        guard let mediaPlayerItem else { return nil }
        current = Locked((AVPlayer(playerItem: mediaPlayerItem.item), mediaPlayerItem))
    }

    public func play() {
        let player = current.withLock { $0.player }
        Task { @MainActor in player.play() }
    }

    public func pause() {
        let player = current.withLock { $0.player }
        Task { @MainActor in player.pause() }
    }

    public func replaceCurrentItem(with item: PTMediaPlayerItem!) {
        guard let item else { return }
        current.withLock { $0 = (AVPlayer(playerItem: item.item), item) }
    }

    var item: PTMediaPlayerItem { current.withLock { $0.item } }
}
