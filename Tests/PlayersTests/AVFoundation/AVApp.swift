import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine

@testable import LatchkeyAVFoundation

/// An app on AVFoundation: the keys, an asset, and the reports of the keys.
final class AVApp: Sendable {
    let keys: AVPlayerKeys
    let asset: AVURLAsset
    let notices: NoticeLog
    let failures: FailureLog

    init(_ loader: ContentKeyLoader, playing url: URL, options: AVPlayerKeys.Options = AVPlayerKeys.Options()) {
        let (notices, failures) = (NoticeLog(), FailureLog())
        (self.notices, self.failures) = (notices, failures)
        keys = AVPlayerKeys(loader, options: options, onNotice: notices.add, onFailure: failures.add)
        asset = AVURLAsset(url: url)
        keys.protect(asset)
    }

    /// The session of the asset.
    var session: AVContentKeySession? {
        keys.state.withLock { state in state.sessions.first { $0.asset === asset }?.session }
    }

    /// Requests a key through the session of the asset.
    @discardableResult
    func preload(_ key: KeyURI) -> Bool { keys.preload(key, as: nil, of: asset.url) }

    /// Plays from the start.
    func play() async throws -> StandInPlayback.Result { try await Self.play(asset) }

    static func play(_ asset: AVURLAsset) async throws -> StandInPlayback.Result {
        let item = AVPlayerItem(asset: asset)
        let player = AVPlayer(playerItem: item)
        await player.play()
        return try await item.standIn.finished()
    }
}

/// The notices of a session.
final class NoticeLog: Sendable {
    private struct State {
        var notices: [AVPlayerKeys.Notice] = []
        var watchers: [(condition: @Sendable (AVPlayerKeys.Notice) -> Bool, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var all: [AVPlayerKeys.Notice] { state.withLock { $0.notices } }

    func add(_ notice: AVPlayerKeys.Notice) {
        let met = state.withLock { state in
            state.notices.append(notice)
            let met = state.watchers.filter { $0.condition(notice) }.map(\.1)
            state.watchers.removeAll { $0.condition(notice) }
            return met
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits until one notice, past or to come, meets a condition.
    func until(_ condition: @escaping @Sendable (AVPlayerKeys.Notice) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                let isThere = state.notices.contains(where: condition)
                if !isThere { state.watchers.append((condition, continuation)) }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }
}
