public import Foundation
public import LatchkeyCore

/// Why a player got no key, did not take one, or lost one: the argument of every adapter's `onFailure`.
///
/// Holds no secrets, unless the key URI itself does.
public struct KeyFailure: Sendable {
    /// The key; `nil` if the failure affects all keys, or if the player did not name the key.
    public let key: KeyURI?
    /// The title that the app named for the key; `nil` if it named none, or the failure concerns all keys.
    public let asset: AssetID?
    /// The error to show and to log, with domain, number and text: `loaderError` as an `NSError`, or the player's own error.
    public let error: NSError
    /// The error to branch on; `nil` if the error is the player's own.
    public let loaderError: ContentKeyError?
    /// The meaning of the FairPlay number in `error`, or in an error below it; `nil` if there is no known one.
    public var explanation: FairPlayErrorExplanation? { FairPlayErrorExplanation.explaining(error) }

    /// The message for the viewer, or `nil`. A player's own error is `unavailable`.
    public var viewerMessage: ViewerMessage? { loaderError.map(\.viewerMessage) ?? .unavailable }

    /// Makes a failure found by the loader or an adapter.
    /// - Parameters:
    ///   - error: The error.
    ///   - key: The key. Defaults to `nil`: the failure concerns all keys.
    ///   - asset: The title of the key. Defaults to `nil`: not known.
    public init(_ error: ContentKeyError, key: KeyURI? = nil, asset: AssetID? = nil) {
        self.key = key
        self.asset = asset
        self.error = error.nsError
        loaderError = error
    }

    /// Makes a failure reported by the player.
    /// - Parameters:
    ///   - error: The player's own error.
    ///   - key: The key. Defaults to `nil`: the player did not name it.
    ///   - asset: The title of the key. Defaults to `nil`: not known.
    public init(player error: any Error, key: KeyURI? = nil, asset: AssetID? = nil) {
        self.key = key
        self.asset = asset
        self.error = error as NSError
        loaderError = nil
    }
}
