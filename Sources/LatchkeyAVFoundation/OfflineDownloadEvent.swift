#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    public import Foundation
    public import Latchkey

    /// The progress or the end of a title's download.
    public nonisolated enum OfflineDownloadEvent: Sendable {
        /// This fraction of the media is there, 0 to 1.
        case progressed(AssetID, Double)
        /// The media is there. Keep the location: the system does not report it again.
        case finished(AssetID, OfflineLocation)
        /// The download was cancelled: by the app, or by the viewer in the system's Live Activity. What came of the media is at the location, if
        /// there is one, and may be removed.
        case cancelled(AssetID, OfflineLocation?)
        /// The download failed, or the system ended it, as when the viewer quits the app. What came of the media is at the location, if there
        /// is one, and may be removed, or completed by another download from this location. The system's own error is the `underlying` one.
        case failed(AssetID, ContentKeyError, OfflineLocation?)
    }

    /// A download that has not ended.
    public nonisolated struct OfflineDownload: Sendable, Hashable, Identifiable {
        /// The title.
        public let asset: AssetID
        /// The fraction of the media that is there, 0 to 1.
        public let fractionCompleted: Double
        /// Whether the app paused it.
        public let isPaused: Bool

        public var id: AssetID { asset }
    }

    /// Where downloaded media is, as a path relative to the app's home folder, which the system moves between launches.
    public nonisolated struct OfflineLocation: Sendable, Hashable, Codable {
        /// The path relative to the home folder; an absolute path, with a slash at its start, if the media is outside of it.
        public let path: String

        /// - Parameters:
        ///   - url: Where the system put the media.
        ///   - home: The app's current home folder.
        public init(_ url: URL, home: String = NSHomeDirectory()) {
            let prefix = home.hasSuffix("/") ? home : home + "/"
            path = url.path.hasPrefix(prefix) ? String(url.path.dropFirst(prefix.count)) : url.path
        }

        /// Where the media is, in the current home folder.
        public var url: URL { url(home: NSHomeDirectory()) }

        /// Where the media is, in a given home folder.
        public func url(home: String) -> URL {
            URL(fileURLWithPath: path.hasPrefix("/") ? path : "\(home)/\(path)")
        }
    }
#endif
