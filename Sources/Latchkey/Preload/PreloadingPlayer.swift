public import Foundation
public import LatchkeyCore

/// A player that can hold a key before it plays it. Only such a player can preload a license.
public protocol PreloadingPlayer: Sendable {
    /// Makes the player request a key that it does not play yet, and hold the key.
    ///
    /// The player passes the request to `ContentKeyLoader.answer`, during this call or later, as with every other. AVFoundation's
    /// `processContentKeyRequest(withIdentifier:)` does this. Called once for each key, in the order in which the stream names them, on no
    /// particular isolation; do not wait in it.
    /// - Parameters:
    ///   - key: the key's URI as the playlist states it.
    ///   - asset: the title that the key belongs to, which the request carries; `nil` if the app named none.
    ///   - stream: the URL of the playlist that names the key.
    /// - Returns: `false` if the player cannot, or has the key already.
    func preload(_ key: KeyURI, as asset: AssetID?, of stream: URL?) -> Bool
}
