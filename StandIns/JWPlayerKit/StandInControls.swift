public import Foundation
public import LatchkeyCore
public import StandInEngine
public import StandInPlayers

/// What a test may see of a player, and do with it. Not in JW Player's SDK; adapters must not use it.
public struct JWStandIn: Sendable {
    /// The stage that the player is on.
    public let stage: StandInStage
    /// The stream in the player; nil before it is configured.
    public let playback: SourcePlayback?
    private let calls: CompletionHooks

    init(stage: StandInStage, playback: SourcePlayback?, calls: CompletionHooks) {
        self.stage = stage
        self.playback = playback
        self.calls = calls
    }

    /// Waits until the stream has played.
    /// - Throws: `JWError`.
    public func finished() async throws -> StandInPlayback.Result {
        guard let playback else { throw JWError(code: 281_000, "The player is not configured.") }
        return try await playback.finished()
    }

    /// Calls `contentIdentifierForURL` alone.
    public func contentIdentifier(for uri: KeyURI) async throws -> Data? {
        try await calls.contentIdentifier(for: uri)
    }

    /// Calls `appIdentifierForURL` alone.
    public func appIdentifier(for uri: KeyURI) async throws -> Data? { try await calls.certificate(for: uri) }

    /// Calls `contentKeyWithSPCData` alone.
    public func contentKey(for spc: Data) async throws -> CompletionHooks.Reply? {
        try await calls.license(for: spc)
    }
}
