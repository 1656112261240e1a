public import Foundation
public import FoundationNetworking
import StandInEngine

/// Downloads streams for later playback with stored keys. It requests no keys itself.
@available(iOS 9.0, macOS 10.15, watchOS 10.0, visionOS 1.0, *)
@available(tvOS, unavailable)
open class AVAssetDownloadURLSession: URLSession, @unchecked Sendable {
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

    @available(iOS 15.0, macOS 12.0, visionOS 1.0, *)
    @available(tvOS, unavailable)
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

    @available(iOS, introduced: 11.0, deprecated: 18.0)
    @available(macOS, introduced: 10.15, deprecated: 10.15)
    @available(tvOS, unavailable)
    public func aggregateAssetDownloadTask(
        with URLAsset: AVURLAsset, mediaSelections: [AVMediaSelection], assetTitle title: String,
        assetArtworkData artworkData: Data?, options: [String: Any]? = nil
    ) -> AVAggregateAssetDownloadTask? {
        AVAggregateAssetDownloadTask(AssetDownload(URLAsset, of: self, downloads, queue, stage))
    }
}

/// What to download.
@available(iOS 15.0, macOS 12.0, visionOS 1.0, *)
@available(tvOS, unavailable)
open class AVAssetDownloadConfiguration: NSObject {
    let asset: AVURLAsset
    public var artworkData: Data?

    public init(asset: AVURLAsset, title: String) { self.asset = asset }
}

/// A download.
@available(iOS 9.0, macOS 10.15, watchOS 10.0, visionOS 1.0, *)
@available(tvOS, unavailable)
open class AVAssetDownloadTask: URLSessionTask, @unchecked Sendable {
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

/// A download of several renditions.
@available(iOS, introduced: 11.0, deprecated: 18.0)
@available(macOS, introduced: 10.15, deprecated: 10.15)
@available(tvOS, unavailable)
open class AVAggregateAssetDownloadTask: URLSessionTask, @unchecked Sendable {
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

/// Sets the minimum bit rate to download; a number.
public let AVAssetDownloadTaskMinimumRequiredMediaBitrateKey = "AVAssetDownloadTaskMinimumRequiredMediaBitrateKey"
/// Sets the minimum picture size to download.
public let AVAssetDownloadTaskMinimumRequiredPresentationSizeKey =
    "AVAssetDownloadTaskMinimumRequiredPresentationSizeKey"
/// Chooses the renditions to download.
public let AVAssetDownloadTaskMediaSelectionKey = "AVAssetDownloadTaskMediaSelectionKey"
