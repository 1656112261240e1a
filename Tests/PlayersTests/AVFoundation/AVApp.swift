import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import StandInEngine

@testable import LatchkeyAVFoundation

/// An app on AVFoundation: a bridge, an asset, and what the bridge said.
final class AVApp: Sendable {
    let keys: ContentKeySessionBridge
    let asset: AVURLAsset
    let notices: NoticeLog

    init(
        _ loader: ContentKeyLoader, playing url: URL, options: ContentKeySessionOptions = ContentKeySessionOptions()
    ) {
        let notices = NoticeLog()
        self.notices = notices
        keys = ContentKeySessionBridge(loader, options: options) { notices.add($0) }
        asset = AVURLAsset(url: url)
        keys.protect(asset)
    }

    /// The bridge's session.
    var session: AVContentKeySession? { keys.state.withLock { $0.session } }

    /// Plays from the start.
    func play() async throws -> StandInPlayback.Result { try await Self.play(asset) }

    static func play(_ asset: AVURLAsset) async throws -> StandInPlayback.Result {
        let item = AVPlayerItem(asset: asset)
        let player = AVPlayer(playerItem: item)
        await player.play()
        return try await item.standIn.finished()
    }
}

/// What a bridge said.
final class NoticeLog: Sendable {
    private struct State {
        var notices: [ContentKeySessionNotice] = []
        var watchers: [(condition: @Sendable (ContentKeySessionNotice) -> Bool, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var all: [ContentKeySessionNotice] { state.withLock { $0.notices } }
    var failures: [KeyFailure] { all.compactMap { if case .failed(let failure) = $0 { failure } else { nil } } }

    func add(_ notice: ContentKeySessionNotice) {
        let met = state.withLock { state in
            state.notices.append(notice)
            let met = state.watchers.filter { $0.condition(notice) }.map(\.1)
            state.watchers.removeAll { $0.condition(notice) }
            return met
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits until one notice, past or to come, meets a condition.
    func until(_ condition: @escaping @Sendable (ContentKeySessionNotice) -> Bool) async {
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
