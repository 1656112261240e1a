public import Foundation
public import FoundationNetworking
import StandInEngine

/// Receives events of downloads. Every method is optional.
@available(iOS 9.0, macOS 10.15, watchOS 10.0, visionOS 1.0, *)
@available(tvOS, unavailable)
public protocol AVAssetDownloadDelegate: URLSessionTaskDelegate {
    @available(iOS 18.0, macOS 14.0, watchOS 10.0, visionOS 1.0, *)
    func urlSession(
        _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, willDownloadTo location: URL)

    @available(iOS, introduced: 10.0, deprecated: 27.0)
    func urlSession(
        _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, didFinishDownloadingTo location: URL)

    @available(iOS, introduced: 9.0, deprecated: 27.0)
    func urlSession(
        _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, didLoad timeRange: CMTimeRange,
        totalTimeRangesLoaded loadedTimeRanges: [NSValue], timeRangeExpectedToLoad: CMTimeRange)

    @available(iOS, introduced: 11.0, deprecated: 27.0)
    func urlSession(
        _ session: URLSession, aggregateAssetDownloadTask: AVAggregateAssetDownloadTask,
        willDownloadTo location: URL)

    @available(iOS, introduced: 11.0, deprecated: 27.0)
    func urlSession(
        _ session: URLSession, aggregateAssetDownloadTask: AVAggregateAssetDownloadTask,
        didCompleteFor mediaSelection: AVMediaSelection)

    @available(iOS, introduced: 11.0, deprecated: 27.0)
    func urlSession(
        _ session: URLSession, aggregateAssetDownloadTask: AVAggregateAssetDownloadTask,
        didLoad timeRange: CMTimeRange, totalTimeRangesLoaded loadedTimeRanges: [NSValue],
        timeRangeExpectedToLoad: CMTimeRange, for mediaSelection: AVMediaSelection)

    /// A method of `URLSessionDelegate` on Apple's platforms.
    @available(macOS, unavailable)
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

extension AVAssetDownloadDelegate {
    public func urlSession(
        _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, willDownloadTo location: URL
    ) { CallbackProbe.noteDefault() }

    public func urlSession(
        _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, didFinishDownloadingTo location: URL
    ) { CallbackProbe.noteDefault() }

    public func urlSession(
        _ session: URLSession, assetDownloadTask: AVAssetDownloadTask, didLoad timeRange: CMTimeRange,
        totalTimeRangesLoaded loadedTimeRanges: [NSValue], timeRangeExpectedToLoad: CMTimeRange
    ) { CallbackProbe.noteDefault() }

    public func urlSession(
        _ session: URLSession, aggregateAssetDownloadTask: AVAggregateAssetDownloadTask,
        willDownloadTo location: URL
    ) { CallbackProbe.noteDefault() }

    public func urlSession(
        _ session: URLSession, aggregateAssetDownloadTask: AVAggregateAssetDownloadTask,
        didCompleteFor mediaSelection: AVMediaSelection
    ) { CallbackProbe.noteDefault() }

    public func urlSession(
        _ session: URLSession, aggregateAssetDownloadTask: AVAggregateAssetDownloadTask,
        didLoad timeRange: CMTimeRange, totalTimeRangesLoaded loadedTimeRanges: [NSValue],
        timeRangeExpectedToLoad: CMTimeRange, for mediaSelection: AVMediaSelection
    ) { CallbackProbe.noteDefault() }

    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        CallbackProbe.noteDefault()
    }
}
