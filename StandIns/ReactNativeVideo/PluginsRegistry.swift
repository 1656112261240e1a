import Foundation
import StandInEngine

/// What an app adds to the players. Made once; registers itself.
open class ReactNativeVideoPlugin {
    public let id: String
    public let name: String

    public init(name: String) {
        self.name = name
        id = "RNV_Plugin_\(name)"
        PluginsRegistry.shared.register(plugin: self)
    }

    /// Gives a source's keys a manager; nil leaves it to the next plugin.
    open func getDRMManager(source: any NativeVideoPlayerSource) -> (any DRMManagerSpec)? { nil }
}

/// The plugins of a process.
// Sound: what changes is behind a lock; plugins are asked from any thread in the real library as well.
public final class PluginsRegistry: @unchecked Sendable {
    /// The only one. Here there is one per stage, so that tests do not meet in it.
    public static var shared: PluginsRegistry { StandInStage.only { PluginsRegistry() } }

    private let lock = NSLock()
    private var plugins: [ReactNativeVideoPlugin] = []

    public func register(plugin: ReactNativeVideoPlugin) {
        lock.withLock {
            plugins.removeAll { $0.id == plugin.id }
            plugins.append(plugin)
        }
    }

    public func unregister(plugin: ReactNativeVideoPlugin) {
        lock.withLock { plugins.removeAll { $0.id == plugin.id } }
    }

    /// The first manager that a plugin has for a source.
    func drmManager(for source: any NativeVideoPlayerSource) -> (any DRMManagerSpec)? {
        let plugins = lock.withLock { self.plugins }
        for plugin in plugins {
            if let manager = plugin.getDRMManager(source: source) { return manager }
        }
        return nil
    }
}
