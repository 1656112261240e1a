public import Foundation
import LatchkeyCore
import StandInEngine

/// One playback of an asset.
@MainActor open class AVPlayerItem: NSObject {
    public enum Status: Int, Sendable {
        case unknown = 0
        case readyToPlay = 1
        case failed = 2
    }

    public nonisolated static let failedToPlayToEndTimeNotification = NSNotification.Name(
        "AVPlayerItemFailedToPlayToEndTimeNotification")
    public nonisolated static let newErrorLogEntryNotification = NSNotification.Name(
        "AVPlayerItemNewErrorLogEntry")
    public nonisolated static let didPlayToEndTimeNotification = NSNotification.Name(
        "AVPlayerItemDidPlayToEndTimeNotification")

    nonisolated let playback: ItemPlayback

    private nonisolated init(playing asset: AVURLAsset) {
        playback = ItemPlayback(of: asset)
        super.init()
        playback.announce = { [weak self] name, information in
            guard let self else { return }
            NotificationCenter.default.post(name: name, object: self, userInfo: information)
        }
    }

    /// - Parameter asset: an `AVURLAsset`.
    public nonisolated convenience init(asset: any AVAsset & Sendable) {
        // There are no other assets here.
        self.init(playing: asset as? AVURLAsset ?? AVURLAsset(url: URL(fileURLWithPath: "/")))
    }

    /// For an asset that is not `Sendable`, on the main actor.
    public convenience init(asset: AVAsset) {
        self.init(playing: asset as? AVURLAsset ?? AVURLAsset(url: URL(fileURLWithPath: "/")))
    }

    public nonisolated convenience init(url URL: Foundation.URL) { self.init(playing: AVURLAsset(url: URL)) }

    public var asset: AVAsset { playback.asset }
    public nonisolated var status: AVPlayerItem.Status { playback.status }
    public nonisolated var error: (any Error)? { playback.error }
    public nonisolated var duration: CMTime { playback.duration }

    /// The errors; `nil` without any.
    public nonisolated func errorLog() -> AVPlayerItemErrorLog? { playback.errorLog }
}

/// The key of the error in `failedToPlayToEndTimeNotification`.
public let AVPlayerItemFailedToPlayToEndTimeErrorKey = "AVPlayerItemFailedToPlayToEndTimeErrorKey"

/// The errors of an item.
open class AVPlayerItemErrorLog: NSObject, @unchecked Sendable {
    public let events: [AVPlayerItemErrorLogEvent]

    init(_ events: [AVPlayerItemErrorLogEvent]) { self.events = events }
}

/// An error of an item.
open class AVPlayerItemErrorLogEvent: NSObject, @unchecked Sendable {
    public let date: Date?
    public let uri: String?
    public let serverAddress: String? = nil
    public let playbackSessionID: String?
    public let errorStatusCode: Int
    public let errorDomain: String
    public let errorComment: String?
    public let allHTTPResponseHeaderFields: [String: String]? = nil

    init(_ error: any Error, uri: String, session: String, date: Date) {
        let error = error as NSError
        self.date = date
        self.uri = uri
        playbackSessionID = session
        errorStatusCode = error.code
        errorDomain = error.domain
        errorComment = error.userInfo[NSLocalizedDescriptionKey] as? String
    }
}
