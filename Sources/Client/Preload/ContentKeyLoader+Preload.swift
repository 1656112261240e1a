public import Foundation
import LatchkeyCore

/// Getting a stream's keys ready before it plays.
///
/// What can be got ahead is bounded by one rule: a license answers one SPC only, and a new SPC always needs a new license. No
/// license is ever kept to answer another request. So a license comes before play only where the player itself makes the SPC
/// early and holds the key; `preload(_:into:limits:)` has it do so. Where such a player asks for the key once more, with a new
/// request, that one gets an exchange of its own. For every other player the certificate, lookups, the connection and, where
/// `LoaderConfiguration.preparedCredentialsLifetime` allows it, credentials are got ahead, and the license is asked for when
/// the player's SPC comes. No secure session is opened ahead.
extension ContentKeyLoader {
    /// Gets ready what needs no player: certificate, lookups, connection, credentials. The licenses follow when the stream plays.
    ///
    /// Playlists are loaded without credentials. Nothing is thrown: what failed is a value in the result. Ends early, with what is
    /// ready then, at the limit of time, when the task is cancelled and when the loader is.
    /// - Parameters:
    ///   - playlist: the stream's http or https address.
    ///   - limits: how much the preload may do.
    public func preload(_ playlist: URL, limits: PreloadLimits = PreloadLimits()) async -> PreloadResult {
        await preload(playlist, nil, limits)
    }

    /// Gets a stream's licenses before it plays, in a player that makes its SPCs early and holds the keys.
    ///
    /// As `preload(_:limits:)`, but the player is asked for a key request of each key, session keys first, and the preload waits for
    /// the answers to these requests, which it knows by their key URI. For keys that the player declines, what needs no player
    /// is got ready.
    /// - Parameters:
    ///   - playlist: the stream's http or https address.
    ///   - player: makes the key requests.
    ///   - limits: how much the preload may do.
    public func preload(
        _ playlist: URL, into player: any PreloadingPlayer, limits: PreloadLimits = PreloadLimits()
    ) async -> PreloadResult {
        await preload(playlist, player, limits)
    }

    private func preload(
        _ playlist: URL, _ player: (any PreloadingPlayer)?, _ limits: PreloadLimits
    ) async -> PreloadResult {
        let timekeeper = caller.timekeeper
        let start = timekeeper.uptime
        let preload = Preload(self, player, limits)
        let outcome = await preloads.run {
            try await withDeadline(limits.time, timekeeper, expired: { TimeIsOver() }) { await preload.run(playlist) }
        }
        let end: PreloadResult.End =
            switch outcome {
            case .success: .complete
            case .failure(is TimeIsOver): .timeIsOver
            case .failure: .cancelled
            }
        let result = preload.draft.result(end, took: timekeeper.uptime - start)
        for key in result.keys where !key.prepared.isEmpty {
            report(exchange: 0, key: key.uri)(.preloaded(key.prepared))
        }
        return result
    }
}

private struct TimeIsOver: Error {}
