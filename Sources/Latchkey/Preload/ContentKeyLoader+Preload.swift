public import Foundation
import LatchkeyCore

/// Prepares a stream's keys before it plays.
///
/// One rule limits preloading: a license answers one SPC only, and a new SPC always needs a new license. No license is kept to
/// answer another request. So a license is preloaded only if the player itself makes the SPC early and holds the key, as with
/// `preload(_:into:as:limits:)`. If that player requests the key again, the new request has its own exchange. For every other player the
/// certificate, looked-up values, the connection and, if `LoaderConfiguration.preparedCredentialsLifetime` allows it, credentials are
/// preloaded, and the license is requested when the player's SPC comes. No secure session is opened early.
extension ContentKeyLoader {
    /// Prepares all that needs no player: certificate, prerequisites, connection, credentials. The licenses follow when the stream plays.
    ///
    /// Playlists are loaded without credentials, unless `LoaderConfiguration.playlist` loads them; of a ladder, only as many as it takes to
    /// find its distinct keys. Nothing is thrown: a failure is a value in the result. Ends early, with the parts that are ready, at the
    /// limit of time, and when the task or the loader is cancelled.
    /// - Parameters:
    ///   - playlist: the stream's http or https address.
    ///   - asset: the title, for credentials and events: the same that the player names later. Defaults to `nil`: not known.
    ///   - limits: how much the preload may do.
    public func preload(
        _ playlist: URL, as asset: AssetID? = nil, limits: PreloadLimits = PreloadLimits()
    ) async -> PreloadResult {
        await preload(playlist, nil, asset, limits)
    }

    /// Gets a stream's licenses before it plays, in a player that makes its SPCs early and holds the keys.
    ///
    /// As `preload(_:as:limits:)`, but the player is asked to request each key, session keys first, and the preload waits for the answers
    /// to these requests, which it knows by their key URI. For keys that the player declines, the parts that need no player are prepared.
    /// - Parameters:
    ///   - playlist: the stream's http or https address.
    ///   - player: makes the key requests.
    ///   - asset: the title, for credentials, events and failures. Defaults to `nil`: not known.
    ///   - limits: how much the preload may do.
    public func preload(
        _ playlist: URL, into player: any PreloadingPlayer, as asset: AssetID? = nil,
        limits: PreloadLimits = PreloadLimits()
    ) async -> PreloadResult {
        await preload(playlist, player, asset, limits)
    }

    private func preload(
        _ playlist: URL, _ player: (any PreloadingPlayer)?, _ asset: AssetID?, _ limits: PreloadLimits
    ) async -> PreloadResult {
        let timekeeper = caller.timekeeper
        let start = timekeeper.uptime
        let preload = Preload(self, player, asset, limits)
        let outcome = await preloads.run {
            try await withDeadline(limits.time, timekeeper, expired: { Diagnosis(.deadlineExceeded, "") }) {
                await preload.run(playlist)
            }
        }
        let end: PreloadResult.End =
            switch outcome {
            case .success: .complete
            case .failure(let error as Diagnosis) where error.kind == .deadlineExceeded: .timeIsOver
            case .failure: .cancelled
            }
        let result = preload.draft.result(end, took: timekeeper.uptime - start)
        for key in result.keys where !key.prepared.isEmpty {
            trace(key.uri, asset).send(.preloaded(key.prepared))
        }
        return result
    }
}
