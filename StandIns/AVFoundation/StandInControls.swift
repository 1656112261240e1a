public import Foundation
import LatchkeyCore
public import StandInEngine

// Everything here is the stand-in's own: no Apple SDK has it. Adapters must not use it; tests and demonstrations do.

extension AVPlayerItem {
    /// What a test may see of an item, and do with it.
    public nonisolated var standIn: StandIn { StandIn(playback: playback) }

    /// What a test may see of an item, and do with it. Not in Apple's SDK.
    public struct StandIn: Sendable {
        let playback: ItemPlayback

        /// The stage that the item plays on.
        public var stage: StandInStage { playback.asset.stage }

        /// Waits until the item is ready.
        /// - Throws: the item's error.
        public func ready() async throws { try await playback.ready.value }

        /// Waits until a player has played the item.
        /// - Throws: the item's error.
        public func finished() async throws -> StandInPlayback.Result { try await playback.finished.value }

        /// Has one picture written as PNG when the item plays.
        public func writePicture(to file: URL) { playback.picture = file }
    }
}

extension AVContentKeySession {
    /// What a test may see of a session, and do with it.
    public var standIn: StandIn { StandIn(session: self) }

    /// What a test may see of a session, and do with it. Not in Apple's SDK.
    public struct StandIn: Sendable {
        let session: AVContentKeySession

        /// The stage that the session is on.
        public var stage: StandInStage { session.stage }
        /// What happened.
        public var log: StandInLog { session.stage.log }
        /// The identifiers of the keys that decrypt now.
        public var usableKeys: Set<String> {
            session.state.withLock { state in Set(state.keys.filter { $0.value.key.isUsable }.keys) }
        }
        /// The requests that wait for an answer.
        public var openRequests: [AVContentKeyRequest] { session.state.withLock { Array($0.open.values) } }

        /// Has the system renew a key of its own accord.
        public func renew(_ identifier: String) {
            guard let held = session.state.withLock({ $0.keys[identifier] }) else { return }
            session.renewExpiringResponseData(for: held.request)
        }

        /// Gives an open request up.
        public func cancel(_ request: AVContentKeyRequest) { session.cancel(request) }

        /// Asks for keys that belong together, as for one blob of initialization data.
        public func request(_ identifiers: [String], initializationData: Data) {
            let requests = identifiers.map { identifier in
                var wish = KeyWish(KeyURI(identifier), form: session.stage.behavior.identifierForm)
                wish.initializationData = initializationData
                return AVContentKeyRequest(wish, for: .streaming, of: session)
            }
            session.send(batch: requests, initializationData: initializationData)
        }

        /// Gives the session another identifier.
        public func changeProtectionSession(to identifier: Data) {
            session.state.withLock { $0.protectionSession = identifier }
            session.notify(.sessionIdentifierDidChange) {
                $0.contentKeySessionContentProtectionSessionIdentifierDidChange($1)
            }
        }

        /// Has other displays connected: tells of every key that is held.
        public func changeProtection(_ status: AVExternalContentProtectionStatus) { session.changeProtection(status) }

        /// Delivers a key to store in place of the one that the app stored.
        public func updatePersistableKey(_ bytes: Data, identifier: String) {
            let wish = KeyWish(KeyURI(identifier), form: session.stage.behavior.identifierForm)
            session.notify(.didUpdatePersistable, about: identifier) {
                $0.contentKeySession(
                    $1, didUpdatePersistableContentKey: bytes,
                    forContentKeyIdentifier: wish.identifier ?? identifier)
            }
        }

        /// Says that the session, made with a storage directory, was expired.
        public func generateExpiredSessionReport() { session.generateExpiredSessionReport() }

        /// Ends the media services for this session.
        public func resetMediaServices() { session.resetMediaServices() }
    }

    func changeProtection(_ status: AVExternalContentProtectionStatus) {
        let keys = state.withLock { Array($0.keys.values) }.compactMap(\.request.contentKey)
        for key in keys {
            key.change(status)
            notify(.externalProtectionStatusDidChange, about: KeyIdentifier.text(key.contentKeySpecifier.identifier)) {
                $0.contentKeySession($1, externalProtectionStatusDidChangeFor: key)
            }
        }
    }
}

extension AVURLAsset {
    /// The stage that the asset is on. Not in Apple's SDK.
    public var standInStage: StandInStage { stage }
}
