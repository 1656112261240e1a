import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting

/// A change that an app or a player makes, and its effect on a model of the store.
enum StoreChange {
    case request(AssetID, Set<KeyURI>)
    case delete(AssetID)
    case store(KeyURI, Data)
    case update(KeyURI, Data)
    case start(KeyURI)
    case reject(KeyURI)

    /// A change by chance, among 4 assets and 5 keys.
    init(_ chance: UInt64) {
        let asset = AssetID("asset-\(chance >> 8 & 3)")
        let keys = (0..<5).map { KeyURI("skd://host/key-\($0)") }
        let key = keys[Int(chance >> 16 % 5)]
        // Sizes from a few bytes to several pages of the disk.
        let bytes = Data(repeating: UInt8(truncatingIfNeeded: chance >> 24), count: 1 + Int(chance >> 32 % 20_000))
        self =
            switch chance % 12 {
            case 0...2: .request(asset, Set(zip(keys, 40...).filter { chance >> $1 & 1 == 1 }.map(\.0) + [key]))
            case 3: .delete(asset)
            case 4...7: .store(key, bytes)
            case 8, 9: .update(key, bytes)
            case 10: .start(key)
            default: .reject(key)
            }
    }

    func make(_ offline: OfflineKeys) async throws {
        switch self {
        case .request(let asset, let keys): try await offline.register(asset, keys: keys)
        case .delete(let asset): try await offline.delete(asset)
        case .store(let key, let bytes):
            let request = FakePersistableRequest(key, storedKey: .replace, persist: { $0 })
            _ = try await offline.key(for: request) { License(ckc: Secret(bytes)) }
        case .update(let key, let bytes): offline.updated(key, to: Secret(bytes))
        case .start(let key): offline.started(key)
        case .reject(let key): _ = try await offline.rejected(key)
        }
        // When this call returns, the earlier calls, which return immediately, have been carried out.
        _ = try await offline.assets()
    }
}

/// The expected contents of a store.
struct StoreModel: Equatable {
    struct Key: Equatable {
        var bytes: Data
        var isPlayed: Bool
    }

    var assets: [AssetID: Set<KeyURI>] = [:]
    var keys: [KeyURI: Key] = [:]

    mutating func make(_ change: StoreChange) {
        switch change {
        case .request(let asset, let keys): assets[asset] = keys
        case .delete(let asset): assets[asset] = nil
        case .store(let key, let bytes): keys[key] = Key(bytes: bytes, isPlayed: false)
        case .update(let key, let bytes): keys[key] = Key(bytes: bytes, isPlayed: true)
        case .start(let key): keys[key]?.isPlayed = true
        case .reject(let key): keys[key] = nil
        }
        let wanted = assets.values.reduce(into: Set()) { $0.formUnion($1) }
        keys = keys.filter { wanted.contains($0.key) }
    }

    init() {}

    /// The contents of a store.
    init(_ offline: OfflineKeys) async throws {
        for asset in try await offline.assets() {
            assets[asset.id] = Set(asset.keys.map(\.uri))
            for key in asset.keys {
                guard let bytes = try await offline.storedKey(for: key.uri) else { continue }
                keys[key.uri] = Key(bytes: bytes.revealed, isPlayed: key.firstPlayed != nil)
            }
        }
    }
}
