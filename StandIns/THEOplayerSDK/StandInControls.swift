public import Foundation
public import LatchkeyCore
public import StandInEngine
public import StandInPlayers

extension THEOplayer {
    /// What a test may see of a player, and do with it. Not in THEOplayer's SDK; adapters must not use it.
    public var standIn: StandIn { StandIn(stage: stage, playback: playback, hooks: hooks) }

    /// What a test may see of a player, and do with it. Not in THEOplayer's SDK.
    public struct StandIn: Sendable {
        /// The stage that the player is on.
        public let stage: StandInStage
        /// The stream in the player; nil without a source.
        public let playback: SourcePlayback?
        let hooks: IntegrationHooks?

        /// Waits until the stream has played.
        /// - Throws: a `ContentProtectionError` where keys are missing.
        public func finished() async throws -> StandInPlayback.Result {
            try await present(playback).finished()
        }

        /// Calls `onExtractFairplayContentId` alone, or what stands in for it.
        public func contentIdentifier(for uri: KeyURI) async throws -> Data? {
            try await present(hooks).contentIdentifier(for: uri)
        }

        /// Calls `onCertificateRequest`, and `onCertificateResponse` where a request is sent.
        public func certificate() async throws -> Data { try await present(hooks).certificate() }

        /// Calls `onLicenseRequest`, and `onLicenseResponse` where a request is sent.
        public func license(for spc: Data, _ uri: KeyURI) async throws -> Data {
            try await present(hooks).license(for: spc, uri)
        }

        private func present<Value>(_ value: Value?) throws -> Value {
            guard let value else { throw CocoaError(.fileNoSuchFile) }
            return value
        }
    }
}
