public import Foundation
public import LatchkeyCore
public import StandInEngine
public import StandInPlayers

extension JWPlayerController {
    /// The controls of the player, for tests. Not in JW Player's SDK; adapters must not use it.
    public var standIn: StandIn { StandIn(stage: stage, playback: playback, calls: hooks) }

    /// The controls of a player, for tests. Not in JW Player's SDK.
    public struct StandIn: Sendable {
        /// The stage of the player.
        public let stage: StandInStage
        /// The playback of the stream.
        public let playback: SourcePlayback?
        let calls: CompletionHooks

        /// Waits until the stream has played.
        /// - Throws: the player's error.
        public func finished() async throws -> StandInPlayback.Result {
            guard let playback else { throw CocoaError(.fileNoSuchFile) }
            return try await playback.finished()
        }

        /// Calls only `fetchContentIdentifier`. Empty data becomes `nil`.
        public func contentIdentifier(for uri: KeyURI) async throws -> Data? {
            try await calls.contentIdentifier(for: uri)
        }

        /// Calls only `fetchAppIdentifier`. Empty data becomes `nil`.
        public func appIdentifier(for uri: KeyURI) async throws -> Data? { try await calls.certificate(for: uri) }

        /// Calls only `fetchContentKey`.
        public func contentKey(for spc: Data) async throws -> CompletionHooks.Reply? {
            try await calls.license(for: spc)
        }
    }
}

/// A player of the versions before 3.13 on iOS 11 and later, which requests no content identifier. Not a separate class in the SDK.
///
/// Source: jwplayer/jwplayer-sdk-ios-demo, headers of 3.2.3 and 3.3.0.
public final class EarlyJWPlayerController: JWPlayerController {
    override var asksForIdentifiers: Bool { false }
}
