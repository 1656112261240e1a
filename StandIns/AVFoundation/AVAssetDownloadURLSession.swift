public import Foundation
public import FoundationNetworking
import LatchkeyCore
import StandInEngine

/// Downloads streams for later playback with stored keys. A download requests its keys as playback does, so its asset is
/// protected before the task is resumed. Source: `Documentation/Players.md` §3.8.
// Sound: all mutable state is in `state`, behind a lock.
@available(iOS 9.0, macOS 10.15, watchOS 10.0, visionOS 1.0, *)
@available(tvOS, unavailable)
open class AVAssetDownloadURLSession: URLSession, @unchecked Sendable {
    private struct State {
        weak var delegate: (any AVAssetDownloadDelegate)?
        var queue = DispatchQueue(label: "AVAssetDownloadURLSession")
        var isInvalid = false
        /// The session that already has the identifier.
        weak var first: AVAssetDownloadURLSession?
    }

    private let stage = StandInStage.current ?? StandInStage()
    private let state = Locked(State())

    public convenience init(
        configuration: URLSessionConfiguration, assetDownloadDelegate delegate: (any AVAssetDownloadDelegate)?,
        delegateQueue: OperationQueue?
    ) {
        self.init(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
        state.withLock { state in
            state.delegate = delegate
            if let given = delegateQueue?.underlyingQueue { state.queue = given }
        }
        connect(configuration.identifier)
    }

    private func connect(_ identifier: String?) {
        guard let identifier else { return stage.log.note(.sessionNotBackground, "AVAssetDownloadURLSession") }
        guard let first = stage.downloadService.connect(self, identifier) else { return }
        stage.log.note(.sessionIdentifierTaken, identifier)
        state.withLock { $0.first = first }
    }

    var callbacks: DispatchQueue { state.withLock { $0.first ?? self }.state.withLock { $0.queue } }
    /// The delegate of the first session with the identifier.
    var downloads: (any AVAssetDownloadDelegate)? {
        state.withLock { $0.first ?? self }.state.withLock { $0.delegate }
    }
    private var identifier: String { configuration.identifier ?? "" }

    /// Ends the session because the app ended.
    func leave() {
        stage.downloadService.disconnect(identifier)
        state.withLock { $0.delegate = nil }
    }

    @available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, visionOS 1.0, *)
    public func makeAssetDownloadTask(
        downloadConfiguration: AVAssetDownloadConfiguration
    ) -> AVAssetDownloadTask {
        if state.withLock({ $0.isInvalid }) { stage.log.note(.invalidatedSessionUsed, "makeAssetDownloadTask") }
        return add(
            AVAssetDownloadTask(AssetDownload(downloadConfiguration.asset, of: self, stage), downloadConfiguration))
    }

    @available(iOS, introduced: 10.0, deprecated: 27.0)
    public func makeAssetDownloadTask(
        asset URLAsset: AVURLAsset, assetTitle title: String, assetArtworkData artworkData: Data?,
        options: [String: Any]? = nil
    ) -> AVAssetDownloadTask? {
        state.withLock { $0.isInvalid }
            ? nil : add(AVAssetDownloadTask(AssetDownload(URLAsset, of: self, stage), nil))
    }

    @available(iOS, introduced: 11.0, deprecated: 27.0)
    @available(macOS, introduced: 10.15, deprecated: 27.0)
    @available(tvOS, unavailable)
    public func aggregateAssetDownloadTask(
        with URLAsset: AVURLAsset, mediaSelections: [AVMediaSelection], assetTitle title: String,
        assetArtworkData artworkData: Data?, options: [String: Any]? = nil
    ) -> AVAggregateAssetDownloadTask? {
        state.withLock { $0.isInvalid }
            ? nil : AVAggregateAssetDownloadTask(AssetDownload(URLAsset, of: self, stage))
    }

    open override func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        guard !stage.downloadService.isSilent else { return }
        let tasks = running
        callbacks.async { completionHandler(tasks) }
    }

    open override func finishTasksAndInvalidate() {
        state.withLock { $0.isInvalid = true }
        settle()
    }

    open override func invalidateAndCancel() {
        for task in running { task.cancel() }
        finishTasksAndInvalidate()
    }

    private var running: [AVAssetDownloadTask] {
        stage.downloadService.tasks(of: identifier).filter { $0.state != .completed }
    }

    /// Reports the end if the session is invalid and its tasks are done.
    func settle() {
        guard running.isEmpty, state.withLock({ $0.isInvalid }) else { return }
        stage.downloadService.disconnect(identifier)
        stage.deliver("didBecomeInvalid", on: callbacks) { [self] in
            guard let delegate = downloads else { return CallbackProbe.noteNobody() }
            delegate.urlSession(self, didBecomeInvalidWithError: nil)
            state.withLock { $0.delegate = nil }
        }
    }

    private func add(_ task: AVAssetDownloadTask) -> AVAssetDownloadTask {
        stage.downloadService.add(task, to: identifier)
        return task
    }
}

/// Foundation has background sessions on Apple's platforms only.
extension URLSessionConfiguration {
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.identifier = identifier
        return configuration
    }
}

/// The media to download.
@available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 10.0, visionOS 1.0, *)
open class AVAssetDownloadConfiguration: NSObject {
    let asset: AVURLAsset
    public var artworkData: Data?
    public let primaryContentConfiguration = AVAssetDownloadContentConfiguration()
    public var auxiliaryContentConfigurations = [AVAssetDownloadContentConfiguration()]
    public var optimizesAuxiliaryContentConfigurations = true
    @available(iOS 18.0, macOS 15.0, watchOS 11.0, visionOS 2.0, *)
    @available(tvOS, unavailable)
    public var downloadsInterstitialAssets = false

    public init(asset: AVURLAsset, title: String) { self.asset = asset }
}

/// The renditions to download.
@available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 10.0, visionOS 1.0, *)
open class AVAssetDownloadContentConfiguration: NSObject {
    public var variantQualifiers: [AVAssetVariantQualifier] = []
    public var mediaSelections: [AVMediaSelection] = []
}

/// A download.
@available(iOS 9.0, macOS 10.15, watchOS 10.0, visionOS 1.0, *)
@available(tvOS, unavailable)
open class AVAssetDownloadTask: URLSessionTask, @unchecked Sendable {
    let download: AssetDownload
    /// The app's choice; `nil` for a task of an older call. Not in Apple's SDK.
    public let standInConfiguration: AVAssetDownloadConfiguration?

    init(_ download: AssetDownload, _ configuration: AVAssetDownloadConfiguration?) {
        self.download = download
        standInConfiguration = configuration
    }

    public var urlAsset: AVURLAsset { download.asset }

    open override var state: URLSessionTask.State { download.phase }

    open override func resume() { download.resume(tell) }

    open override func suspend() { download.suspend() }

    open override func cancel() { cancel(URLError(.cancelled)) }

    func cancel(_ error: any Error) { download.cancel(error, tell) }

    private var tell: AssetDownload.Teller {
        { [self] event, delegate, session in
            switch event {
            case .will(let location):
                delegate.urlSession(session, assetDownloadTask: self, willDownloadTo: location)
            case .loaded(let range):
                progress.totalUnitCount = 1
                progress.completedUnitCount = 1
                delegate.urlSession(
                    session, assetDownloadTask: self, didLoad: range, totalTimeRangesLoaded: [],
                    timeRangeExpectedToLoad: range)
            case .finished(let location):
                delegate.urlSession(session, assetDownloadTask: self, didFinishDownloadingTo: location)
            case .completed(let error): delegate.urlSession(session, task: self, didCompleteWithError: error)
            }
        }
    }
}

/// A download of several renditions.
@available(iOS, introduced: 11.0, deprecated: 27.0)
@available(macOS, introduced: 10.15, deprecated: 27.0)
@available(tvOS, unavailable)
open class AVAggregateAssetDownloadTask: URLSessionTask, @unchecked Sendable {
    private let download: AssetDownload

    init(_ download: AssetDownload) { self.download = download }

    public var urlAsset: AVURLAsset { download.asset }

    open override var state: URLSessionTask.State { download.phase }

    open override func resume() { download.resume(tell) }

    open override func suspend() { download.suspend() }

    open override func cancel() { download.cancel(URLError(.cancelled), tell) }

    private var tell: AssetDownload.Teller {
        { [self] event, delegate, session in
            switch event {
            case .will(let location):
                delegate.urlSession(session, aggregateAssetDownloadTask: self, willDownloadTo: location)
            case .loaded(let range):
                delegate.urlSession(
                    session, aggregateAssetDownloadTask: self, didLoad: range, totalTimeRangesLoaded: [],
                    timeRangeExpectedToLoad: range, for: AVMediaSelection())
            case .finished:
                delegate.urlSession(session, aggregateAssetDownloadTask: self, didCompleteFor: AVMediaSelection())
            case .completed(let error): delegate.urlSession(session, task: self, didCompleteWithError: error)
            }
        }
    }
}

/// Sets the minimum bit rate to download; a number.
public let AVAssetDownloadTaskMinimumRequiredMediaBitrateKey = "AVAssetDownloadTaskMinimumRequiredMediaBitrateKey"
/// Sets the minimum picture size to download.
public let AVAssetDownloadTaskMinimumRequiredPresentationSizeKey =
    "AVAssetDownloadTaskMinimumRequiredPresentationSizeKey"
/// Chooses the renditions to download.
public let AVAssetDownloadTaskMediaSelectionKey = "AVAssetDownloadTaskMediaSelectionKey"
