public import Foundation
public import LatchkeyCore
public import StandInEngine
public import StandInPlayers

extension JWPlayerController {
    /// What a test may see of a player, and do with it. Not in JW Player's SDK; adapters must not use it.
    public var standIn: StandIn { StandIn(stage: stage, playback: playback, calls: hooks) }

    /// What a test may see of a player, and do with it. Not in JW Player's SDK.
    public struct StandIn: Sendable {
        /// The stage that the player is on.
        public let stage: StandInStage
        /// The stream in the player.
        public let playback: SourcePlayback?
        let calls: CompletionHooks

        /// Waits until the stream has played.
        /// - Throws: the player's error.
        public func finished() async throws -> StandInPlayback.Result {
            guard let playback else { throw CocoaError(.fileNoSuchFile) }
            return try await playback.finished()
        }

        /// Calls `fetchContentIdentifier` alone; empty data comes as nil.
        public func contentIdentifier(for uri: KeyURI) async throws -> Data? {
            try await calls.contentIdentifier(for: uri)
        }

        /// Calls `fetchAppIdentifier` alone; empty data comes as nil.
        public func appIdentifier(for uri: KeyURI) async throws -> Data? { try await calls.certificate(for: uri) }

        /// Calls `fetchContentKey` alone.
        public func contentKey(for spc: Data) async throws -> CompletionHooks.Reply? {
            try await calls.license(for: spc)
        }
    }
}
