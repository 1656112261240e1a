import Foundation
import FoundationNetworking
import LatchkeyCore
public import StandInEngine

/// The system's service of a stage, which keeps the downloads of background sessions even while no app runs.
final class DownloadService: Sendable {
    private struct Session {
        /// Retained until it is invalid or the app ends, as the system retains a session with its delegate.
        var session: AVAssetDownloadURLSession?
        var tasks: [AVAssetDownloadTask] = []
    }

    private struct State {
        var sessions: [String: Session] = [:]
        var network: Promise<Void, Never>?
        var isSilent = false
    }

    private let state = Locked(State())

    /// Resolved when the network is back; `nil` while it is available.
    var network: Promise<Void, Never>? { state.withLock { $0.network } }

    /// Connects an app's session.
    /// - Returns: the session that already has the identifier; `nil` if there is none, and the new one takes over the downloads.
    func connect(_ session: AVAssetDownloadURLSession, _ identifier: String) -> AVAssetDownloadURLSession? {
        state.withLock { state in
            if let first = state.sessions[identifier]?.session { return first }
            state.sessions[identifier, default: Session()].session = session
            for task in state.sessions[identifier]?.tasks ?? [] { task.download.move(to: session) }
            return nil
        }
    }

    func disconnect(_ identifier: String) { state.withLock { $0.sessions[identifier]?.session = nil } }

    func add(_ task: AVAssetDownloadTask, to identifier: String) {
        state.withLock { $0.sessions[identifier, default: Session()].tasks.append(task) }
    }

    func tasks(of identifier: String) -> [AVAssetDownloadTask] {
        state.withLock { $0.sessions[identifier]?.tasks ?? [] }
    }

    var tasks: [AVAssetDownloadTask] {
        state.withLock { $0.sessions.values.flatMap(\.tasks) }
    }

    var sessions: [AVAssetDownloadURLSession] {
        state.withLock { $0.sessions.values.compactMap(\.session) }
    }

    /// Whether it withholds the list of tasks.
    var isSilent: Bool {
        get { state.withLock { $0.isSilent } }
        set { state.withLock { $0.isSilent = newValue } }
    }

    func setNetwork(_ isThere: Bool) {
        let network = state.withLock { state in
            defer { state.network = isThere ? nil : state.network ?? Promise() }
            return isThere ? state.network : nil
        }
        network?.resolve(.success(()))
    }
}

extension StandInStage {
    var downloadService: DownloadService { only { DownloadService() } }

    /// The system's downloads, for tests. Not in Apple's SDK.
    public var downloads: StandInDownloads { StandInDownloads(service: downloadService, stage: self) }
}

/// Actions of the system and the viewer on an app's downloads.
public struct StandInDownloads: Sendable {
    let service: DownloadService
    let stage: StandInStage

    /// The tasks of all background sessions, including ended ones.
    public var tasks: [AVAssetDownloadTask] { service.tasks }

    /// Pauses the downloads until the network is back.
    public func loseNetwork() { service.setNetwork(false) }

    public func regainNetwork() { service.setNetwork(true) }

    /// From now on the system withholds the list of tasks.
    public func fallSilent() { service.isSilent = true }

    /// The system invalidates all sessions after their tasks are done.
    public func invalidate() { for session in service.sessions { session.finishTasksAndInvalidate() } }

    /// The system ends the app: its sessions end, and their downloads continue.
    public func endApp() { for session in service.sessions { session.leave() } }

    /// The viewer cancels all downloads in the Live Activity, from iOS 27.
    public func cancelInLiveActivity() { cancel(CocoaError(.userCancelled)) }

    /// The viewer quits the app, which cancels its downloads.
    public func quitApp() {
        cancel(URLError(.cancelled, userInfo: [NSURLErrorBackgroundTaskCancelledReasonKey: 0]))
    }

    /// The system has delivered the events for which it woke the app.
    public func finishEvents() {
        for session in service.sessions {
            stage.deliver("didFinishEvents", on: session.callbacks) {
                guard let delegate = session.downloads else { return CallbackProbe.noteNobody() }
                delegate.urlSessionDidFinishEvents(forBackgroundURLSession: session)
            }
        }
    }

    private func cancel(_ error: any Error) { for task in tasks { task.cancel(error) } }
}
