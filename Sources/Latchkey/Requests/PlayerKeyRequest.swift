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

    /// What the player needs the key for.
    var purpose: KeyPurpose { get }

    /// What plays the key: a player with its source. A key is kept alive once per player.
    var player: PlayerID { get }

    /// Whether the player plays the key, so that the loader keeps it alive. Defaults to `true`; `false` for a player that only stores it.
    var playsKey: Bool { get }

    /// The title that the app named for the key, which credentials are asked for with. Defaults to `nil`: not known; a renewal then has
    /// the title of the key that it renews.
    var asset: AssetID? { get }

    /// Has the player's content decryption module make an SPC.
    /// - Parameters:
    ///   - certificate: the application certificate, DER.
    ///   - contentIdentifier: what the license service knows the key by.
    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data

    /// Has the player's content decryption module make an SPC, unless the system holds the key already (an advisory key). The loader
    /// calls this; the default calls `makeSPC(certificate:contentIdentifier:)`.
    /// - Parameters:
    ///   - certificate: the application certificate, as the vendor gives it.
    ///   - contentIdentifier: what the license service knows the key by.
    /// - Returns: the SPC; `nil` if the system holds the key, so that no license is requested and no answer is given.
    ///
    /// Source: `Documentation/Players.md` §3.3, `makeOptionalStreamingContentKeyRequestData`.
    func makeOptionalSPC(certificate: Data, contentIdentifier: Data) async throws -> Data?

    /// Gives the player the CKC, or an error.
    func answer(_ result: Result<Data, ContentKeyError>)

    /// Ends the request without an answer, because the system holds the key. Called instead of `answer`.
    func systemHoldsKey()

    /// Tells the player when to renew the key that it is about to get, for players that request the renewal themselves. Called
    /// before `answer`, and only for a key that is renewed.
    func renewalPlanned(at date: Date)

    /// Has the player request this key again: a new request with the same key URI and player, a new SPC, and the purpose `renewal`.
    /// Called before the key's lease ends, and again if the renewal failed.
    /// - Returns: whether the player can.
    func renew() -> Bool

    /// The keys that the playlists of what plays name now. Called when a key is due for renewal and newer ones came beside it: one that
    /// no playlist names any more lapses instead.
    /// - Returns: `nil` if they are not known; then `LeasePolicy.heldKeys` says which keys lapse.
    func keysInPlaylists() async -> Set<KeyURI>?

    /// Tells the player that the key is renewed no more, because newer ones took its place. It lives until its lease ends.
    func lapsed()

    /// Tells the player that the key ended although it was not released: its lease was not renewed in time, or its session failed.
    /// Called at most once, after the answer.
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
    /// Has the player turn a CKC into a persistable key, which the loader stores and answers with.
    func persistableKey(from ckc: Data) throws -> Data

    /// What to do if the key is stored already.
    var storedKey: StoredKeyUse { get }
}

@_spi(Adapters) extension PersistableKeyRequest {
    public var purpose: KeyPurpose { .persistable }
    public var storedKey: StoredKeyUse { .reuse }
}

/// What to do with a key that is stored already.
public enum StoredKeyUse: Sendable, Hashable {
    /// It answers the request, without a network.
    case reuse
    /// It is replaced by a new one; it stays if there is none.
    case replace
}

/// Identifies what plays one source with the keys of a loader: renewals, suspension, release and a vendor's secure session are a player's.
@_spi(Adapters) public struct PlayerID: Sendable, Hashable, ExpressibleByStringLiteral {
    let name: String

    /// - Parameter name: a name that is unique among the loader's players.
    public init(_ name: String) { self.name = name }

    public init(stringLiteral value: String) { self.init(value) }

    /// The only player of an app.
    public static let only: Self = ""
}
