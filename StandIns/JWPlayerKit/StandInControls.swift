public import Foundation
public import LatchkeyCore
public import StandInEngine
public import StandInPlayers

/// The controls of a player, for tests. Not in JW Player's SDK; adapters must not use it.
public struct JWStandIn: Sendable {
    /// The stage of the player.
    public let stage: StandInStage
    /// The playback of the stream; `nil` before the player is configured.
    public let playback: SourcePlayback?
    private let calls: CompletionHooks

    init(stage: StandInStage, playback: SourcePlayback?, calls: CompletionHooks) {
        self.stage = stage
        self.playback = playback
        self.calls = calls
    }

    /// Waits until the stream has played.
    /// - Throws: a `JWError`.
    public func finished() async throws -> StandInPlayback.Result {
        guard let playback else { throw JWError(code: 281_000, "The player is not configured.") }
        return try await playback.finished()
    }

    /// Calls only `contentIdentifierForURL`.
    public func contentIdentifier(for uri: KeyURI) async throws -> Data? {
        try await calls.contentIdentifier(for: uri)
    }

    /// Calls only `appIdentifierForURL`.
    public func appIdentifier(for uri: KeyURI) async throws -> Data? { try await calls.certificate(for: uri) }

    /// Calls only `contentKeyWithSPCData`.
    public func contentKey(for spc: Data) async throws -> CompletionHooks.Reply? {
        try await calls.license(for: spc)
    }
}
