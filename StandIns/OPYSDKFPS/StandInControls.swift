public import AVFoundation
public import StandInEngine

extension OTVAVPlayer {
    /// What a test may see of a player, and do with it. Not in NAGRA's SDK; adapters must not use it.
    public nonisolated var standIn: StandIn { StandIn(client: client, item: currentItem) }

    /// What a test may see of a player, and do with it. Not in NAGRA's SDK.
    public struct StandIn: Sendable {
        let client: KeyClient
        let item: AVPlayerItem?

        /// The stage that the player is on.
        public var stage: StandInStage { client.stage }
        /// The SDK's own key session: what it holds, and what can be done with it.
        public var session: AVContentKeySession.StandIn { client.session.standIn }

        /// Waits until the item has played.
        /// - Throws: the item's error.
        public func finished() async throws -> StandInPlayback.Result {
            guard let item else { throw CocoaError(.fileNoSuchFile) }
            return try await item.standIn.finished()
        }

        /// Calls `license` of the customer callback alone, on the worker.
        /// - Returns: the license; nil where there is none.
        public func license(for spc: Data, _ type: OTVLicenseRequestType) async -> Data? {
            await client.asker?.callbackLicense(for: spc, type)?.license
        }

        /// Calls `heartbeat` of the customer callback alone, on the worker.
        public func heartbeat() async { await client.beat() }
    }
}
