public import Foundation
public import LatchkeyCore
public import StandInEngine
public import StandInPlayers

extension THEOplayer {
    /// The controls of the player, for tests. Not in THEOplayer's SDK; adapters must not use it.
    public var standIn: StandIn { StandIn(stage: stage, playback: playback, hooks: hooks) }

    /// The controls of a player, for tests. Not in THEOplayer's SDK.
    public struct StandIn: Sendable {
        /// The stage of the player.
        public let stage: StandInStage
        /// The playback of the stream; `nil` without a source.
        public let playback: SourcePlayback?
        let hooks: IntegrationHooks?

        /// Waits until the stream has played.
        /// - Throws: a `ContentProtectionError` if keys are missing.
        public func finished() async throws -> StandInPlayback.Result {
            try await present(playback).finished()
        }

        /// Calls only `onExtractFairplayContentId`, or its replacement.
        public func contentIdentifier(for uri: KeyURI) async throws -> Data? {
            try await present(hooks).contentIdentifier(for: uri)
        }

        /// Calls `onCertificateRequest`, and `onCertificateResponse` if a request is sent.
        public func certificate() async throws -> Data { try await present(hooks).certificate() }

        /// Calls `onLicenseRequest`, and `onLicenseResponse` if a request is sent.
        public func license(for spc: Data, _ uri: KeyURI) async throws -> Data {
            try await present(hooks).license(for: spc, uri)
        }

        private func present<Value>(_ value: Value?) throws -> Value {
            guard let value else { throw CocoaError(.fileNoSuchFile) }
            return value
        }
    }
}
