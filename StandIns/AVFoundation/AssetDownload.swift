import Foundation
import FoundationNetworking
import LatchkeyCore
import StandInEngine

/// The work of a download task.
// Sound: only the running task changes, behind a lock; the delegate is called on one queue.
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

    let asset: AVURLAsset
    private let session: URLSession
    private weak var delegate: (any AVAssetDownloadDelegate)?
    private let queue: DispatchQueue
    private let stage: StandInStage
    private let running = Locked<Task<Void, Never>?>(nil)

    init(
        _ asset: AVURLAsset, of session: URLSession, _ delegate: (any AVAssetDownloadDelegate)?,
        _ queue: DispatchQueue, _ stage: StandInStage
    ) {
        self.asset = asset
        self.session = session
        self.delegate = delegate
        self.queue = queue
        self.stage = stage
    }

    func start(_ tell: @escaping Teller) {
        running.withLock { running in
            guard running == nil else { return }
            running = Task { await run(tell) }
        }
    }

    func cancel() { running.withLock { $0 }?.cancel() }

    private func run(_ tell: @escaping Teller) async {
        // The system decides where it keeps downloads. An app stores a relative path or a bookmark.
        let location = FileManager.default.temporaryDirectory
            .appending(path: "com.apple.UserManagedAssets.\(UUID().uuidString.prefix(6)).movpkg")
        deliver(.will(location), tell)
        do {
            let seconds = try await StoredStream.download(asset.url.absoluteString, to: location, on: stage)
            try Task.checkCancellation()
            let whole = CMTime(seconds: seconds, preferredTimescale: 600)
            deliver(.loaded(CMTimeRange(start: .zero, duration: whole)), tell)
            deliver(.finished(location), tell)
            deliver(.completed(nil), tell)
        } catch {
            try? FileManager.default.removeItem(at: location)
            deliver(.completed(Task.isCancelled ? URLError(.cancelled) : error), tell)
        }
    }

    private func deliver(_ event: Event, _ tell: @escaping Teller) {
        stage.deliver(event.name, about: asset.url.lastPathComponent, on: queue) { [self] in
            guard let delegate else { return CallbackProbe.noteNobody() }
            tell(event, delegate, session)
        }
    }
}
