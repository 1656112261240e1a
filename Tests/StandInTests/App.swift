import AVFoundation
import LatchkeySimulation
import StandInEngine

/// The objects that an app retains during playback: the session, its delegate, the item and the player.
final class App: Sendable {
    let session: AVContentKeySession
    let asset: AVURLAsset
    let item: AVPlayerItem
    private let delegate: any AVContentKeySessionDelegate

    /// - Parameters:
    ///   - delegate: provides the keys. Only this object retains it.
    ///   - queue: the delegate's queue.
    ///   - address: the playlist.
    init(
        _ delegate: any AVContentKeySessionDelegate, on queue: DispatchQueue = DispatchQueue(label: "app.keys"),
        playing address: URL
    ) {
        self.delegate = delegate
        session = AVContentKeySession(keySystem: .fairPlayStreaming)
        session.setDelegate(delegate, queue: queue)
        asset = AVURLAsset(url: address)
        session.addContentKeyRecipient(asset)
        item = AVPlayerItem(asset: asset)
    }

    convenience init(_ delegate: any AVContentKeySessionDelegate, playing stream: DemoAsset = .transportStream) {
        self.init(delegate, playing: StandInFixture.playlist(of: stream))
    }

    func play() async throws -> StandInPlayback.Result { try await play(item) }

    /// Plays again from the start.
    func playAgain() async throws -> StandInPlayback.Result { try await play(AVPlayerItem(asset: asset)) }

    private func play(_ item: AVPlayerItem) async throws -> StandInPlayback.Result {
        let player = AVPlayer(playerItem: item)
        await player.play()
        return try await item.standIn.finished()
    }
}

/// A key delegate that runs a test's script.
final class ScriptedDelegate: NSObject, AVContentKeySessionDelegate {
    private let script: @Sendable (AVContentKeySession, AVContentKeyRequest) -> Void

    init(_ script: @escaping @Sendable (AVContentKeySession, AVContentKeyRequest) -> Void) { self.script = script }

    func contentKeySession(_ session: AVContentKeySession, didProvide keyRequest: AVContentKeyRequest) {
        script(session, keyRequest)
    }
}
