public import AVFoundation
import StandInEngine

/// What a player plays, as plugins see it.
public protocol NativeVideoPlayerSource: AnyObject {
    var url: URL { get }
    var uri: String { get }
    var config: NativeVideoConfig { get }
    var asset: AVURLAsset? { get }
}

/// What a script says about a source.
public struct NativeVideoConfig {
    public var uri: String
    public var drm: NativeDrmParams?
    public var headers: [String: String]?

    public init(uri: String, drm: NativeDrmParams?, headers: [String: String]? = nil) {
        self.uri = uri
        self.drm = drm
        self.headers = headers
    }
}

/// A script's player: makes the asset, has a plugin's manager take it, and plays it.
// Sound: it is used by one thread at a time.
public final class HybridVideoPlayer: NativeVideoPlayerSource, @unchecked Sendable {
    public let config: NativeVideoConfig
    public let url: URL
    public private(set) var asset: AVURLAsset?
    /// The library holds the manager of a source as long as the source.
    private var manager: (any DRMManagerSpec)?
    private var item: AVPlayerItem?

    public var uri: String { config.uri }

    public init(config: NativeVideoConfig) {
        self.config = config
        url = URL(string: config.uri) ?? URL(fileURLWithPath: config.uri)
    }

    /// Plays the source.
    /// - Throws: what the manager throws, and an error where no plugin has one for a protected source.
    public func play() async throws {
        let asset = AVURLAsset(url: url)
        self.asset = asset
        if let parameters = config.drm {
            guard let manager = PluginsRegistry.shared.drmManager(for: self) else {
                throw NSError(
                    domain: "ReactNativeVideo", code: 1, userInfo: [NSLocalizedDescriptionKey: "No DRM plugin."])
            }
            self.manager = manager
            try manager.createContentKeyRequest(for: asset, drmParams: parameters)
        }
        let item = AVPlayerItem(asset: asset)
        self.item = item
        await AVPlayer(playerItem: item).play()
    }

    /// What a test may see of the player's item; nil before it plays. Not in the library; adapters must not use it.
    public var standIn: AVPlayerItem.StandIn? { item?.standIn }
}
