#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    public import Foundation
    public import Latchkey

    /// The progress or the end of a title's download.
    public nonisolated enum OfflineDownloadEvent: Sendable {
        /// The downloaded fraction of the media, 0 to 1.
        case progressed(AssetID, Double)
        /// The media is complete. Keep the location: the system does not report it again.
        case finished(AssetID, OfflineLocation)
        /// The download was cancelled: by the app, or by the viewer in the system's Live Activity. Partial media, if any, is
        /// at the location and may be removed.
        case cancelled(AssetID, OfflineLocation?)
        /// The download failed, or the system ended it, for example because the viewer quit the app. Partial media, if any, is at the
        /// location; remove it, or complete it with another download from this location. The system's own error is in `underlying`.
        case failed(AssetID, ContentKeyError, OfflineLocation?)
    }

    /// An unfinished download.
    public nonisolated struct OfflineDownload: Sendable, Hashable, Identifiable {
        /// The title.
        public let asset: AssetID
        /// The downloaded fraction of the media, 0 to 1.
        public let fractionCompleted: Double
        /// Whether the app paused it.
        public let isPaused: Bool

        public var id: AssetID { asset }
    }

    /// The location of downloaded media, as a path relative to the app's home folder, which the system moves between launches.
    public nonisolated struct OfflineLocation: Sendable, Hashable, Codable {
        /// The path relative to the home folder; an absolute path, with a slash at its start, if the media is outside of it.
        public let path: String

        /// - Parameters:
        ///   - url: The location that the system reported.
        ///   - home: The app's current home folder.
        public init(_ url: URL, home: String = NSHomeDirectory()) {
            let prefix = home.hasSuffix("/") ? home : home + "/"
            path = url.path.hasPrefix(prefix) ? String(url.path.dropFirst(prefix.count)) : url.path
        }

        /// The location of the media in the current home folder.
        public var url: URL { url(home: NSHomeDirectory()) }

        /// The location of the media in a given home folder.
        public func url(home: String) -> URL {
            URL(fileURLWithPath: path.hasPrefix("/") ? path : "\(home)/\(path)")
        }
    }
#endif
