import Foundation
import StandInEngine

/// An app's extension of the players.
public protocol ReactNativeVideoPluginSpec {
    var id: String { get }
    var name: String { get }
    func getDRMManager(source: any NativeVideoPlayerSource) -> (any DRMManagerSpec)?
}

/// The base class of an app's extension. It registers itself when it is made.
open class ReactNativeVideoPlugin: ReactNativeVideoPluginSpec {
    public let id: String
    public let name: String

    public init(name: String) {
        self.name = name
        id = "RNV_Plugin_\(name)"
        PluginsRegistry.shared.register(plugin: self)
    }

    /// The manager for a source's keys; `nil` if another plugin provides it.
    open func getDRMManager(source: any NativeVideoPlayerSource) -> (any DRMManagerSpec)? { nil }
}

/// The plugins of a process, by their identifiers. The order in which they are asked is undefined.
public final class PluginsRegistry {
    /// The shared registry. Here there is one per stage, so that tests do not share it.
    public static var shared: PluginsRegistry { StandInStage.only { Only(PluginsRegistry()) }.object }

    // Any thread may register and ask plugins.
    private let lock = NSLock()
    private var plugins: [String: any ReactNativeVideoPluginSpec] = [:]

    /// Registers a plugin. Replaces one with the same identifier.
    public func register(plugin: any ReactNativeVideoPluginSpec) { lock.withLock { plugins[plugin.id] = plugin } }

    public func unregister(plugin: any ReactNativeVideoPluginSpec) { lock.withLock { plugins[plugin.id] = nil } }

    /// The first manager that a plugin provides for a source.
    func drmManager(for source: any NativeVideoPlayerSource) -> (any DRMManagerSpec)? {
        for plugin in lock.withLock({ Array(plugins.values) }) {
            if let manager = plugin.getDRMManager(source: source) { return manager }
        }
        return nil
    }
}
