#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    import AVFoundation
    import Foundation
    @_spi(Adapters) import Latchkey

    /// The license delegate's state between calls of the SDK.
    // Sound: all mutable state is only accessed while the lock is held.
    nonisolated final class DelegateMemory: @unchecked Sendable {
        /// The maximum number of names. The oldest is dropped first.
        private static let limit = 256

        private let lock = NSLock()
        private var names: [(identifier: Data, key: KeyURI)] = []
        private var given: Data?
        private var players: [Player] = []
        private var isSuspended = false

        /// The certificate that the SDK got last; `nil` if it got none.
        var certificate: Data? {
            get { lock.withLock { given } }
            set { lock.withLock { given = newValue } }
        }

        /// The key, if the SDK has requested only one.
        var onlyKey: KeyURI? { lock.withLock { names.count == 1 ? names.first?.key : nil } }

        /// The key that has a content identifier.
        func key(named identifier: String) -> KeyURI? {
            lock.withLock { names.last { $0.identifier == Data(identifier.utf8) }?.key }
        }

        /// Records the content identifier of a key.
        func name(_ key: KeyURI, _ identifier: Data) {
            lock.withLock {
                names.removeAll { $0.key == key }
                names = names.suffix(Self.limit - 1) + [(identifier, key)]
            }
        }
    }

    // MARK: - Players

    nonisolated extension DelegateMemory {
        /// A player that requests keys.
        struct Player {
            let id: PlayerID
            let loader: ContentKeyLoader
            /// Its content key session; `nil` after the player was deallocated.
            weak var session: AVContentKeySession?
            /// Whether the SDK named no session.
            let isUnnamed: Bool
            var assets: Set<AssetID> = []
        }

        /// Records the player of a request, and releases players that no longer exist.
        func note(_ request: DelegateKeyRequest, in session: AVContentKeySession?, of loader: ContentKeyLoader) {
            take { !$0.isUnnamed && $0.session == nil }
            let isSuspended = lock.withLock {
                let known = players.firstIndex { $0.id == request.player && $0.loader === loader }
                let index = known ?? players.count
                if known == nil {
                    players.append(
                        Player(id: request.player, loader: loader, session: session, isUnnamed: session == nil))
                }
                if let asset = request.asset { players[index].assets.insert(asset) }
                return self.isSuspended
            }
            if isSuspended { loader.suspend(request.player) }
        }

        /// - Returns: The players so far; later ones are also suspended.
        func setSuspended(_ isSuspended: Bool) -> [Player] {
            lock.withLock {
                self.isSuspended = isSuspended
                return players
            }
        }

        /// Releases players and their keys.
        func take(where isOver: (Player) -> Bool) {
            let over = lock.withLock {
                let over = players.filter(isOver)
                players.removeAll(where: isOver)
                return over
            }
            for player in over { player.loader.release(player.id) }
        }
    }
#endif
