public import Foundation
public import FoundationNetworking
import StandInEngine

/// Downloads streams, to be played later with stored keys. Asks for no keys itself.
public final class AVAssetDownloadURLSession: URLSession, @unchecked Sendable {
    private let stage = StandInStage.current ?? StandInStage()
    private weak var downloads: (any AVAssetDownloadDelegate)?
    private var queue = DispatchQueue(label: "AVAssetDownloadURLSession")

    public convenience init(
        configuration: URLSessionConfiguration, assetDownloadDelegate delegate: (any AVAssetDownloadDelegate)?,
        delegateQueue: OperationQueue?
    ) {
        self.init(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
        downloads = delegate
        if let given = delegateQueue?.underlyingQueue { queue = given }
    }

    public func makeAssetDownloadTask(
        downloadConfiguration: AVAssetDownloadConfiguration
    ) -> AVAssetDownloadTask {
        AVAssetDownloadTask(AssetDownload(downloadConfiguration.asset, of: self, downloads, queue, stage))
    }

    public func makeAssetDownloadTask(
        asset URLAsset: AVURLAsset, assetTitle title: String, assetArtworkData artworkData: Data?,
        options: [String: Any]? = nil
    ) -> AVAssetDownloadTask? {
        AVAssetDownloadTask(AssetDownload(URLAsset, of: self, downloads, queue, stage))
    }

    public func aggregateAssetDownloadTask(
        with URLAsset: AVURLAsset, mediaSelections: [AVMediaSelection], assetTitle title: String,
        assetArtworkData artworkData: Data?, options: [String: Any]? = nil
    ) -> AVAggregateAssetDownloadTask? {
        AVAggregateAssetDownloadTask(AssetDownload(URLAsset, of: self, downloads, queue, stage))
    }
}

/// What to download.
public final class AVAssetDownloadConfiguration: NSObject {
    let asset: AVURLAsset
    public var artworkData: Data?

    public init(asset: AVURLAsset, title: String) { self.asset = asset }
}

/// One download.
public final class AVAssetDownloadTask: URLSessionTask, @unchecked Sendable {
    private let download: AssetDownload

    init(_ download: AssetDownload) { self.download = download }

    public var urlAsset: AVURLAsset { download.asset }

    public override func resume() {
        download.start { [self] event, delegate, session in
            switch event {
            case .will(let location):
                delegate.urlSession(session, assetDownloadTask: self, willDownloadTo: location)
            case .loaded(let range):
                delegate.urlSession(
                    session, assetDownloadTask: self, didLoad: range, totalTimeRangesLoaded: [],
                    timeRangeExpectedToLoad: range)
            case .finished(let location):
                delegate.urlSession(session, assetDownloadTask: self, didFinishDownloadingTo: location)
            case .completed(let error): delegate.urlSession(session, task: self, didCompleteWithError: error)
            }
        }
    }

    public override func cancel() { download.cancel() }
}

/// One download of several renditions.
public final class AVAggregateAssetDownloadTask: URLSessionTask, @unchecked Sendable {
    private let download: AssetDownload

    init(_ download: AssetDownload) { self.download = download }

    public var urlAsset: AVURLAsset { download.asset }

    public override func resume() {
        download.start { [self] event, delegate, session in
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

    public override func cancel() { download.cancel() }
}

/// Sets the lowest bit rate to download; a number.
public let AVAssetDownloadTaskMinimumRequiredMediaBitrateKey = "AVAssetDownloadTaskMinimumRequiredMediaBitrateKey"
/// Sets the smallest picture to download.
public let AVAssetDownloadTaskMinimumRequiredPresentationSizeKey =
    "AVAssetDownloadTaskMinimumRequiredPresentationSizeKey"
/// Chooses the renditions to download.
public let AVAssetDownloadTaskMediaSelectionKey = "AVAssetDownloadTaskMediaSelectionKey"
