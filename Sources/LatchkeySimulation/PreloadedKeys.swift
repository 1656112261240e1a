public import Foundation
public import Latchkey
public import LatchkeyCore

/// The keys that a simulated player requested before playing them.
final class PreloadedKeys: Sendable {
    private let tasks = Locked<[KeyURI: Task<StreamReport.Key, Never>]>([:])

    /// - Returns: whether the key was neither present nor requested.
    func add(_ uri: KeyURI, _ load: @escaping @Sendable () async -> StreamReport.Key) -> Bool {
        tasks.withLock { tasks in
            guard tasks[uri] == nil else { return false }
            tasks[uri] = Task { await load() }
            return true
        }
    }

    /// The delivered keys among these.
    func keys(of uris: [KeyURI]) async -> [KeyURI: StreamReport.Key] {
        var keys: [KeyURI: StreamReport.Key] = [:]
        for uri in uris {
            guard let key = await tasks.withLock({ $0[uri] })?.value, case .success = key.outcome else { continue }
            keys[uri] = key
        }
        return keys
    }
}

/// The simulated device makes an SPC on request, so its keys can be loaded before playback.
extension SimulatedPlayer: PreloadingPlayer {
    public func preload(_ key: KeyURI, as asset: AssetID?, of stream: URL?) -> Bool {
        preloaded.add(key) { await self.key(key) }
    }
}
