public import Foundation
import LatchkeyCore
public import StandInEngine

// Everything here belongs to the stand-in: no Apple SDK has it. Tests and demonstrations use it; adapters must not.

extension AVPlayerItem {
    /// The controls of the item, for tests.
    public nonisolated var standIn: StandIn { StandIn(playback: playback) }

    /// The controls of an item, for tests. Not in Apple's SDK.
    public struct StandIn: Sendable {
        let playback: ItemPlayback

        /// The stage of the item.
        public var stage: StandInStage { playback.asset.stage }

        /// Waits until the item is ready.
        /// - Throws: the item's error.
        public func ready() async throws { try await playback.ready.value }

        /// Waits until a player has played the item.
        /// - Throws: the item's error.
        public func finished() async throws -> StandInPlayback.Result { try await playback.finished.value }

        /// The URIs of the keys that decrypt for the item now, and whose leases last that much longer.
        public func usableKeys(for duration: Duration) -> Set<String> {
            playback.asset.isRecipient
                ? playback.asset.session?.standIn.usableKeys(for: duration) ?? []
                : playback.asset.resourceLoader.standIn.usableKeys(for: duration)
        }

        /// The key session of the item's asset.
        public var session: AVContentKeySession? { playback.asset.session }

        /// Writes one picture in PNG format when the item plays.
        public func writePicture(to file: URL) { playback.picture = file }

        /// Sets the playback position, because nothing here plays in real time.
        public func reach(_ time: CMTime) { playback.time = time }
    }
}

extension AVPlayerInterstitialEvent {
    /// The results of the event's items, or the error of the first that failed. Not in Apple's SDK.
    public var standIn: StandInOutcome<[StandInPlayback.Result]> { playbacks }
}

extension AVPlayerInterstitialEventMonitor {
    /// Simulates the system reading an event's asset list: the event then has template items. Not in Apple's SDK.
    public func standInReadAssetList(of event: AVPlayerInterstitialEvent, _ items: [AVPlayerItem]) {
        event.assetListResponse = ["ASSETS": items.count]
        event.templateItems = items
        primaryPlayer?.schedule.post(
            Self.assetListResponseStatusDidChangeNotification, [Self.assetListResponseStatusDidChangeEventKey: event])
    }
}

extension AVContentKeySession {
    /// The controls of the session, for tests.
    public var standIn: StandIn { StandIn(session: self) }

    /// The controls of a session, for tests. Not in Apple's SDK.
    public struct StandIn: Sendable {
        let session: AVContentKeySession

        /// The stage of the session.
        public var stage: StandInStage { session.stage }
        /// The log of the stage.
        public var log: StandInLog { session.stage.log }
        /// The identifiers of the keys that decrypt now.
        public var usableKeys: Set<String> { usableKeys(for: .zero) }

        /// The identifiers of the keys that decrypt now, and whose leases last that much longer.
        public func usableKeys(for duration: Duration) -> Set<String> {
            session.state.withLock { state in Set(state.keys.filter { $0.value.key.isUsable(for: duration) }.keys) }
        }
        /// The requests that await an answer.
        public var openRequests: [AVContentKeyRequest] { session.state.withLock { Array($0.open.values) } }

        /// Simulates the system renewing a key.
        public func renew(_ identifier: String) {
            guard let held = session.state.withLock({ $0.keys[identifier] }) else { return }
            session.renewExpiringResponseData(for: held.request)
        }

        /// Cancels an open request.
        public func cancel(_ request: AVContentKeyRequest) { session.cancel(request) }

        /// Requests keys together, as for one piece of initialization data.
        /// - Parameter purpose: the purpose of the keys. `persistable` makes persistable requests.
        public func request(
            _ identifiers: [String], initializationData: Data, for purpose: StandInPurpose = .streaming
        ) {
            let requests = identifiers.map { identifier in
                var wish = KeyWish(KeyURI(identifier), form: session.stage.behavior.identifierForm)
                wish.initializationData = initializationData
                return purpose == .persistable
                    ? AVPersistableContentKeyRequest(wish, for: purpose, of: session)
                    : AVContentKeyRequest(wish, for: purpose, of: session)
            }
            session.send(batch: requests, initializationData: initializationData)
        }

        /// Keeps a key of the session in the device, for sessions that support advisory keys.
        public func keepAdvisoryKey(_ identifier: String) {
            session.stage.keepAdvisoryKey(session.state.withLock { $0.keys[identifier]?.key }, of: identifier)
        }

        /// Changes the session's identifier.
        public func changeProtectionSession(to identifier: Data) {
            session.state.withLock { $0.protectionSession = identifier }
            session.notify(.sessionIdentifierDidChange) {
                $0.contentKeySessionContentProtectionSessionIdentifierDidChange($1)
            }
        }

        /// Reports changed displays for every key of the session.
        public func changeProtection(_ status: AVExternalContentProtectionStatus) { session.changeProtection(status) }

        /// Delivers a new key for the app to store instead of the old one.
        public func updatePersistableKey(_ bytes: Data, identifier: String) {
            let wish = KeyWish(KeyURI(identifier), form: session.stage.behavior.identifierForm)
            session.notify(.didUpdatePersistable, about: identifier) {
                $0.contentKeySession(
                    $1, didUpdatePersistableContentKey: bytes,
                    forContentKeyIdentifier: wish.identifier ?? identifier)
            }
        }

        /// Reports that the session, made with a storage directory, expired.
        public func generateExpiredSessionReport() { session.generateExpiredSessionReport() }

        /// Resets the media services for this session.
        public func resetMediaServices() { session.resetMediaServices() }
    }

    /// Whether a key requires more protection than a display offers.
    var isInsufficientlyProtected: Bool {
        state.withLock {
            $0.keys.values.contains { $0.request.contentKey?.externalContentProtectionStatus == .insufficient }
        }
    }

    func changeProtection(_ status: AVExternalContentProtectionStatus) {
        let keys = state.withLock { Array($0.keys.values) }.compactMap(\.request.contentKey)
        for key in keys {
            key.change(status)
            notify(.externalProtectionStatusDidChange, about: KeyIdentifier.text(key.contentKeySpecifier.identifier)) {
                $0.contentKeySession($1, externalProtectionStatusDidChangeFor: key)
            }
        }
        for player in stage.players { player.observers.changed(.isOutputObscured) }
    }
}

extension AVURLAsset {
    /// The stage of the asset. Not in Apple's SDK.
    public var standInStage: StandInStage { stage }
}

extension StandInStage {
    /// The sessions that were made on the stage and are not released, including an adapter's private ones. Not in Apple's SDK.
    public var keySessions: [AVContentKeySession] { only { LivingObjects<AVContentKeySession>() }.all }

    func note(_ session: AVContentKeySession) { only { LivingObjects<AVContentKeySession>() }.add(session) }
}
