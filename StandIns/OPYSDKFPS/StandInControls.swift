public import AVFoundation
public import StandInEngine

extension OTVAVPlayer {
    /// The controls of the player, for tests. Not in NAGRA's SDK; adapters must not use it.
    public nonisolated var standIn: StandIn { StandIn(client: client, item: currentItem) }

    /// The controls of a player, for tests. Not in NAGRA's SDK.
    public struct StandIn: Sendable {
        let client: KeyClient
        let item: AVPlayerItem?

        /// The stage of the player.
        public var stage: StandInStage { client.stage }
        /// The controls of the SDK's own key session.
        public var session: AVContentKeySession.StandIn { client.session.standIn }

        /// Waits until the item has played.
        /// - Throws: the item's error.
        public func finished() async throws -> StandInPlayback.Result {
            guard let item else { throw CocoaError(.fileNoSuchFile) }
            return try await item.standIn.finished()
        }

        /// Calls only `license` of the customer callback, on the worker thread.
        /// - Returns: the license; `nil` without one.
        public func license(for spc: Data, _ type: OTVLicenseRequestType) async -> Data? {
            await client.asker?.callbackLicense(for: spc, type)?.license
        }

        /// Calls only `heartbeat` of the customer callback, on the worker thread.
        public func heartbeat() async { await client.beat() }
    }
}
