public import Foundation
public import Latchkey
public import LatchkeyCore

/// The keys that a simulated player got before it plays them.
final class PreloadedKeys: Sendable {
    private let tasks = Locked<[KeyURI: Task<StreamReport.Key, Never>]>([:])

    /// - Returns: whether the key was not there or on its way.
    func add(_ uri: KeyURI, _ load: @escaping @Sendable () async -> StreamReport.Key) -> Bool {
        tasks.withLock { tasks in
            guard tasks[uri] == nil else { return false }
            tasks[uri] = Task { await load() }
            return true
        }
    }

    /// Those keys that came.
    func keys(of uris: [KeyURI]) async -> [KeyURI: StreamReport.Key] {
        var keys: [KeyURI: StreamReport.Key] = [:]
        for uri in uris {
            guard let key = await tasks.withLock({ $0[uri] })?.value, case .success = key.outcome else { continue }
            keys[uri] = key
        }
        return keys
    }
}

/// The simulated device makes an SPC whenever it is told to, so its keys can be there before play.
extension SimulatedPlayer: PreloadingPlayer {
    public func preload(_ key: KeyURI, as asset: AssetID?, of stream: URL?) -> Bool {
        preloaded.add(key) { await self.key(key) }
    }
}
