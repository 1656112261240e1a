public import Foundation
public import LatchkeyCore
public import LatchkeyVendors

/// A player's request for a key: the key's URI, a way to make an SPC, and a place for the answer.
///
/// An adapter conforms its player's request to this. The loader asks for an SPC once, and ends the request exactly once: with
/// `answer`, or with `systemHoldsKey` if no answer is due. It calls on no particular isolation. It holds an answered request as long
/// as it keeps the key alive, and may call `renew` and `ended` during that time.
@_spi(Adapters) public protocol PlayerKeyRequest: Sendable {
    /// The key's URI as the playlist states it.
    var keyURI: KeyURI { get }

    /// The player's intended use of the key.
    var purpose: KeyPurpose { get }

    /// The player and source that plays the key. A key is kept alive once per player.
    var player: PlayerID { get }

    /// Whether the player plays the key, so that the loader keeps it alive. Defaults to `true`; `false` for a player that only stores it.
    var playsKey: Bool { get }

    /// The title that the app named for the key; requests for credentials name it. Defaults to `nil`: not known; a renewal then has the
    /// title of the key that it renews.
    var asset: AssetID? { get }

    /// Makes the player's content decryption module create an SPC.
    /// - Parameters:
    ///   - certificate: the application certificate, DER.
    ///   - contentIdentifier: the identifier by which the license service knows the key.
    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data

    /// Makes the player's content decryption module create an SPC, unless the system holds the key already (an advisory key). The loader
    /// calls this; the default calls `makeSPC(certificate:contentIdentifier:)`.
    /// - Parameters:
    ///   - certificate: the application certificate, as the vendor gives it.
    ///   - contentIdentifier: the identifier by which the license service knows the key.
    /// - Returns: the SPC; `nil` if the system holds the key, so that no license is requested and no answer is given.
    ///
    /// Source: `Documentation/Players.md` §3.3, `makeOptionalStreamingContentKeyRequestData`.
    func makeOptionalSPC(certificate: Data, contentIdentifier: Data) async throws -> Data?

    /// Passes the player the CKC, or an error.
    func answer(_ result: Result<Data, ContentKeyError>)

    /// Ends the request without an answer, because the system holds the key. Called instead of `answer`.
    func systemHoldsKey()

    /// Announces when to renew the key that the player is about to get, for players that request the renewal themselves. Called before
    /// `answer`, and only for a key that is renewed.
    func renewalPlanned(at date: Date)

    /// Asks the player to request this key again: a new request with the same key URI and player, a new SPC, and the purpose `renewal`.
    /// Called before the key's lease ends, and again if the renewal failed.
    /// - Returns: whether the player can.
    func renew() -> Bool

    /// The keys that the playlists of the playing stream name now. Called when a key is due for renewal and newer ones have come: a key
    /// that no playlist names any more lapses instead.
    /// - Returns: `nil` if they are unknown; then `LeasePolicy.heldKeys` says which keys lapse.
    func keysInPlaylists() async -> Set<KeyURI>?

    /// Informs the player that the key is no longer renewed, because newer ones replaced it. It lives until its lease ends.
    func lapsed()

    /// Informs the player that the key ended although it was not released: its lease was not renewed in time, or its session failed. Called
    /// at most once, after the answer.
    func ended(_ error: ContentKeyError)
}

@_spi(Adapters) extension PlayerKeyRequest {
    public var purpose: KeyPurpose { .streaming }
    public var player: PlayerID { .only }
    public var playsKey: Bool { true }
    public var asset: AssetID? { nil }
    public func makeOptionalSPC(certificate: Data, contentIdentifier: Data) async throws -> Data? {
        try await makeSPC(certificate: certificate, contentIdentifier: contentIdentifier)
    }
    public func systemHoldsKey() {}
    public func renewalPlanned(at date: Date) {}
    public func renew() -> Bool { false }
    public func keysInPlaylists() async -> Set<KeyURI>? { nil }
    public func lapsed() {}
    public func ended(_ error: ContentKeyError) {}
}

/// A request for a key that the app stores, to play without a network.
@_spi(Adapters) public protocol PersistableKeyRequest: PlayerKeyRequest {
    /// Makes the player turn a CKC into a persistable key, which the loader stores and answers with.
    func persistableKey(from ckc: Data) throws -> Data

    /// How a key that is already stored is used.
    var storedKey: StoredKeyUse { get }
}

@_spi(Adapters) extension PersistableKeyRequest {
    public var purpose: KeyPurpose { .persistable }
    public var storedKey: StoredKeyUse { .reuse }
}

/// The use of a key that is already stored.
public enum StoredKeyUse: Sendable, Hashable {
    /// It answers the request, without a network.
    case reuse
    /// It is replaced by a new one; it stays if there is none.
    case replace
}

/// Identifies a player of one source: renewals, suspension, release and a vendor's secure session belong to a player.
@_spi(Adapters) public struct PlayerID: Sendable, Hashable, ExpressibleByStringLiteral {
    let name: String

    /// - Parameter name: a name that is unique among the loader's players.
    public init(_ name: String) { self.name = name }

    public init(stringLiteral value: String) { self.init(value) }

    /// The only player of an app.
    public static let only: Self = ""
}
