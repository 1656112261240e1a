public import AVFoundation
import StandInEngine

/// The native properties of a source.
public protocol NativeVideoPlayerSourceSpec {
    var asset: AVAsset? { get set }
    var url: URL { get }
}

/// The script's properties of a source. In the library, it is generated from a script declaration.
public protocol HybridVideoPlayerSourceSpec_protocol: AnyObject {
    var uri: String { get }
    var config: NativeVideoConfig { get }
}

/// The base class of generated objects.
open class HybridVideoPlayerSourceSpec_base {
    public init() {}
}

/// The script's properties of a source.
public typealias HybridVideoPlayerSourceSpec = HybridVideoPlayerSourceSpec_protocol & HybridVideoPlayerSourceSpec_base

/// A source, as plugins see it.
public typealias NativeVideoPlayerSource = NativeVideoPlayerSourceSpec & HybridVideoPlayerSourceSpec

/// A script's statements about a source. In the library it is a C++ structure, so a target that imports it needs C++ interoperability.
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

/// A source for a script's player.
public final class HybridVideoPlayerSource: HybridVideoPlayerSourceSpec_base, NativeVideoPlayerSourceSpec,
    HybridVideoPlayerSourceSpec_protocol
{
    public let config: NativeVideoConfig
    public let url: URL
    public var asset: AVAsset?

    public var uri: String { config.uri }

    public init(config: NativeVideoConfig) {
        self.config = config
        url = URL(string: config.uri) ?? URL(fileURLWithPath: config.uri)
        super.init()
    }
}

/// A script's player. It makes the asset, passes it to a plugin's manager, and plays it.
public final class HybridVideoPlayer {
    public let source: HybridVideoPlayerSource
    /// The library retains the manager of a source as long as the source.
    private var manager: (any DRMManagerSpec)?
    private var item: AVPlayerItem?

    public init(config: NativeVideoConfig) { source = HybridVideoPlayerSource(config: config) }

    /// Plays the source. The library only prints a manager's error; the asset then has no keys.
    /// - Throws: an error if no plugin has a manager for a protected source.
    public func play() async throws {
        let asset = AVURLAsset(url: source.url)
        source.asset = asset
        if let parameters = source.config.drm {
            // The library first asks whether there is a manager, and then for the manager.
            guard PluginsRegistry.shared.drmManager(for: source) != nil,
                let manager = PluginsRegistry.shared.drmManager(for: source)
            else {
                throw NSError(
                    domain: "ReactNativeVideo", code: 1, userInfo: [NSLocalizedDescriptionKey: "No DRM plugin."])
            }
            self.manager = manager
            try? manager.createContentKeyRequest(for: asset, drmParams: parameters)
        }
        let item = AVPlayerItem(asset: asset)
        self.item = item
        await AVPlayer(playerItem: item).play()
    }

    /// The controls of the player's item, for tests; `nil` before it plays. Not in the library; adapters must not use it.
    public var standIn: AVPlayerItem.StandIn? { item?.standIn }
}
