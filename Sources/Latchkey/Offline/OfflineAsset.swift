public import Foundation
public import LatchkeyCore

/// The state of a key, or of an asset with all its keys.
public enum OfflineState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Requested; a key is still missing.
    case requested
    /// Stored, and never played.
    case stored
    /// Stored, and played at least once.
    case playing
    /// Stored, and a window has ended.
    case expired
}

/// An asset as it was when the list was made.
public struct OfflineAsset: Sendable, Hashable, Identifiable {
    public let id: AssetID
    /// Its keys, ordered by their URIs.
    public let keys: [OfflineKey]

    /// Whether it plays without a network: each of its keys is stored, and none has expired.
    public var isReady: Bool { state == .stored || state == .playing }

    /// Expired if any key is; else requested if any key is missing; else playing if any key was played.
    public var state: OfflineState {
        let states = keys.map(\.state)
        return [.expired, .requested, .playing].first(where: states.contains) ?? .stored
    }

    /// How long it can still play, or be stored until it is played; `nil` if no key states an end.
    public var remaining: Duration? { keys.compactMap(\.remaining).min() }
}

/// A key as it was when the list was made.
public struct OfflineKey: Sendable, Hashable, Identifiable {
    /// The key's URI as the playlist states it.
    public let uri: KeyURI
    /// The key's state.
    public let state: OfflineState
    /// When its license came; `nil` if it is not stored.
    public let stored: Date?
    /// When it was first played.
    public let firstPlayed: Date?
    /// When it was last renewed; `nil` if it never was.
    public let renewed: Date?
    /// How long until its window ends, zero where it has: the storage window until the first play, from then on the playback
    /// window if the license states one. `nil` if the key is missing or its license states no end.
    public let remaining: Duration?

    public var id: KeyURI { uri }
}

/// A stored key that was removed. AVFoundation can prove the removal to a service that requires it: pass the bytes to
/// `invalidatePersistableContentKey(_:options:)`.
public struct RemovedKey: Sendable, Hashable {
    /// The key's URI.
    public let uri: KeyURI
    /// The stored bytes.
    public let bytes: Secret
}

/// The reaction to a player's rejection of a key.
@_spi(Adapters) public enum RejectionAdvice: Sendable, Hashable {
    /// Ask the player to request the key again: the stored one is gone, and a new license is fetched.
    case fetchAgain
    /// Do nothing: the key was new, or is not a stored one.
    case giveUp
}
