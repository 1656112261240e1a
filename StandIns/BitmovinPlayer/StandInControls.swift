public import Foundation
public import LatchkeyCore
public import StandInEngine
public import StandInPlayers

extension Source {
    /// The controls of the source, for tests; `nil` for a source that no factory made. Not in Bitmovin's SDK; adapters must not
    /// use it.
    public var standIn: SourceStandIn? { (self as? SimulatedSource).map(SourceStandIn.init) }
}

/// The controls of a source, for tests. Not in Bitmovin's SDK.
public struct SourceStandIn: Sendable {
    let source: SimulatedSource

    /// The stage of the source.
    public var stage: StandInStage { source.stage }
    /// The stream.
    public var playback: SourcePlayback? { source.playback }

    /// Waits until the source has played.
    /// - Throws: an error with one of Bitmovin's codes.
    public func finished() async throws -> StandInPlayback.Result {
        guard let playback = source.playback else { throw CocoaError(.fileNoSuchFile) }
        return try await playback.finished()
    }

    /// Calls only `prepareContentId`.
    public func contentIdentifier(for uri: KeyURI) async throws -> String {
        try await source.hooks.contentIdentifier(for: uri)
    }

    /// Fetches the certificate, and calls `prepareCertificate`.
    public func certificate() async throws -> Data { try await source.hooks.certificate() }

    /// Fetches a license, and calls `prepareMessage`, `prepareLicenseServerUrl` and `prepareLicense`.
    public func license(for spc: Data, _ uri: KeyURI, assetID: String) async throws -> Data {
        try await source.hooks.license(for: spc, uri, assetID)
    }
}
