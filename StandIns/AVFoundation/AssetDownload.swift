import Foundation
import FoundationNetworking
import LatchkeyCore
import StandInEngine

/// The work of a download task.
// Sound: all mutable state is in `state`, behind a lock; the delegate is called on one queue.
final class AssetDownload: @unchecked Sendable {
    enum Event {
        case will(URL)
        case loaded(CMTimeRange)
        case finished(URL)
        case completed((any Error)?)

        /// The name of the task in the log.
        var name: String {
            switch self {
            case .will: "willDownload"
            case .loaded: "didLoadTimeRange"
            case .finished: "didFinishDownloading"
            case .completed: "didCompleteDownload"
            }
        }
    }

    typealias Teller = @Sendable (Event, any AVAssetDownloadDelegate, URLSession) -> Void

    private struct State {
        var session: AVAssetDownloadURLSession?
        var running: Task<Void, Never>?
        var phase = URLSessionTask.State.suspended
        /// Resolved when the app resumes the task.
        var pause: Promise<Void, Never>?
        /// The reason for the cancellation.
        var cancellation: (any Error)?
    }

    let asset: AVURLAsset
    private let service: DownloadService
    private let stage: StandInStage
    private let state = Locked(State())

    init(_ asset: AVURLAsset, of session: AVAssetDownloadURLSession, _ stage: StandInStage) {
        self.asset = asset
        self.stage = stage
        service = stage.downloadService
        move(to: session)
    }

    var phase: URLSessionTask.State { state.withLock { $0.phase } }

    /// Continues with another session, as after a relaunch of the app.
    func move(to session: AVAssetDownloadURLSession) { state.withLock { $0.session = session } }

    func resume(_ tell: @escaping Teller) {
        let pause = state.withLock { state in
            guard state.phase == .suspended else { return nil as Promise<Void, Never>? }
            state.phase = .running
            asset.begin()
            defer { state.pause = nil }
            state.running = state.running ?? Task { await self.run(tell) }
            return state.pause
        }
        pause?.resolve(.success(()))
    }

    func suspend() {
        state.withLock { state in
            guard state.phase == .running else { return }
            state.phase = .suspended
            state.pause = Promise()
        }
    }

    /// - Parameter error: the error that the delegate receives.
    func cancel(_ error: any Error, _ tell: @escaping Teller) {
        let running = state.withLock { state in
            guard [.running, .suspended].contains(state.phase) else { return nil as Task<Void, Never>? }
            state.phase = .canceling
            state.cancellation = error
            state.running = state.running ?? Task { await self.run(tell) }
            return state.running
        }
        running?.cancel()
    }

    private func run(_ tell: @escaping Teller) async {
        // The system chooses the location of downloads. An app stores a relative path or a bookmark.
        let location = FileManager.default.temporaryDirectory
            .appending(path: "com.apple.UserManagedAssets.\(UUID().uuidString.prefix(6)).movpkg")
        do {
            try Task.checkCancellation()
            deliver(.will(location), tell)
            try await mayGoOn()
            let seconds = try await StoredStream.download(asset.url.absoluteString, to: location, on: stage) { uris in
                try await provide(uris)
            }
            try await mayGoOn()
            let whole = CMTime(seconds: seconds, preferredTimescale: 600)
            deliver(.loaded(CMTimeRange(start: .zero, duration: whole)), tell)
            deliver(.finished(location), tell)
            complete(nil, tell)
        } catch {
            try? FileManager.default.removeItem(at: location)
            complete(state.withLock { $0.cancellation } ?? error, tell)
        }
    }

    /// Requests the keys of the stream, as playback does. An app that has ended is not asked.
    private func provide(_ uris: [KeyURI]) async throws {
        guard asset.session != nil || !asset.isRecipient else { return }
        try await asset.provide(uris)
    }

    private func complete(_ error: (any Error)?, _ tell: @escaping Teller) {
        state.withLock { $0.phase = .completed }
        deliver(.completed(error), tell)
        state.withLock { state in
            defer { state.session = nil }
            return state.session
        }?.settle()
    }

    /// Waits while the app has paused the task, or the network is unavailable.
    private func mayGoOn() async throws {
        try await service.network?.value
        while let pause = state.withLock({ $0.pause }) { try await pause.value }
        try Task.checkCancellation()
    }

    private func deliver(_ event: Event, _ tell: @escaping Teller) {
        guard let session = state.withLock({ $0.session }) else { return }
        stage.deliver(event.name, about: asset.url.lastPathComponent, on: session.callbacks) {
            guard let delegate = session.downloads else { return CallbackProbe.noteNobody() }
            tell(event, delegate, session)
        }
    }
}
