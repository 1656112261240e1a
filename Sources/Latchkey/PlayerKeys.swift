public import Foundation
import LatchkeyCore
@_spi(Adapters) import LatchkeyVendors

/// The keys of one player that makes SPCs itself and expects answers, as players with hooks and completion handlers do.
///
/// Each call's completion is called exactly once, even if the keys are released or deallocated. From its license on, the loader keeps a key
/// alive as for any other request. Safe to use from any thread; completions are called on no particular one.
@_spi(Adapters) public final class PlayerKeys: Sendable {
    /// Gets the keys.
    public let loader: ContentKeyLoader
    private let player = PlayerID("PlayerKeys \(UUID().uuidString)")
    private let onEnd: @Sendable (KeyFailure) -> Void
    private let certificates = Locked<[ObjectIdentifier: Promise<Data, ContentKeyError>]>([:])

    /// - Parameters:
    ///   - loader: gets the keys; several players may share it.
    ///   - ended: called with the reason if a key ended although it is still wanted.
    public init(
        _ loader: ContentKeyLoader, ended: @escaping @Sendable (KeyFailure) -> Void = { _ in }
    ) {
        self.loader = loader
        onEnd = ended
    }

    deinit { release() }

    /// Gets the application certificate, DER.
    public func certificate(completion: @escaping @Sendable (Result<Data, ContentKeyError>) -> Void) {
        let promise = Promise<Data, ContentKeyError>()
        promise.whenResolved(completion)
        certificates.withLock { $0[ObjectIdentifier(promise)] = promise }
        startTask { [weak self, loader] in
            let result = await Result { try await loader.applicationCertificate().bytes }
            self?.certificates.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(promise)) }
            promise.resolve(result.mapError { ContentKeyError($0, otherwise: .integrationFailed) })
        }
    }

    /// Exchanges an SPC for a license.
    /// - Parameters:
    ///   - spc: the player's SPC.
    ///   - key: the key's URI as the playlist states it.
    ///   - purpose: the intended use of the key. Defaults to a renewal for a key that the player has and that needs renewal, and to
    ///     streaming for any other.
    ///   - asset: the title that plays, for credentials and events. Defaults to `nil`: not known, or that of the key that is renewed.
    ///   - completion: takes the license or an error; called once.
    public func license(
        for spc: Data, key: KeyURI, purpose: KeyPurpose? = nil, asset: AssetID? = nil,
        completion: @escaping @Sendable (Result<PlayerLicense, ContentKeyError>) -> Void
    ) {
        let purpose = purpose ?? (loader.renews(key, for: player) ? .renewal : .streaming)
        let asset = asset ?? loader.asset(of: key, for: player)
        loader.answer(SPCRequest(SPCMessage(spc), key, purpose, asset, player, self, completion))
    }

    /// Stops renewals until `resume()`, for an app in the background that does not play.
    public func suspend() { loader.suspend(player) }

    /// Renews keys again after `suspend()`. Overdue renewals are made once.
    public func resume() { loader.resume(player) }

    /// Releases all keys, because the player is closed or changes to another source. Pending calls end with `cancelled`.
    public func release() {
        let certificates = certificates.withLock { certificates in
            defer { certificates = [:] }
            return certificates.values
        }
        for promise in certificates { promise.resolve(.failure(.cancelled)) }
        loader.release(player)
    }
}

/// A license as a player takes it.
@_spi(Adapters) public struct PlayerLicense: Sendable {
    /// The content key context.
    public let ckc: Data
    /// When the player should request the key again; `nil` if it needs no renewal.
    public let renewalDate: Date?
}

extension PlayerKeys {
    fileprivate func ended(_ request: SPCRequest, _ error: ContentKeyError) {
        onEnd(KeyFailure(error, key: request.keyURI, asset: request.asset))
    }
}

/// An SPC that waits for its license, and then the key.
// Sound: constants of sendable types, a weak reference that is set once, and a lock.
private final class SPCRequest: PlayerKeyRequest, @unchecked Sendable {
    let keyURI: KeyURI
    let purpose: KeyPurpose
    let asset: AssetID?
    let player: PlayerID
    private let spc: SPCMessage
    private weak var keys: PlayerKeys?
    /// Drops the completion after its call, as it retains the player, and the key may be held for long.
    private let completion = Promise<PlayerLicense, ContentKeyError>()
    private let renewal = Locked<Date?>(nil)

    init(
        _ spc: SPCMessage, _ keyURI: KeyURI, _ purpose: KeyPurpose, _ asset: AssetID?, _ player: PlayerID,
        _ keys: PlayerKeys, _ completion: @escaping @Sendable (Result<PlayerLicense, ContentKeyError>) -> Void
    ) {
        self.spc = spc
        self.keyURI = keyURI
        self.purpose = purpose
        self.asset = asset
        self.player = player
        self.keys = keys
        self.completion.whenResolved(completion)
    }

    /// A player that stores a key renews it on demand.
    var playsKey: Bool { purpose != .persistable }

    var renewalDate: Date? { renewal.withLock { $0 } }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data { spc.bytes.revealed }

    func renewalPlanned(at date: Date) { renewal.withLock { $0 = date } }

    func answer(_ result: Result<Data, ContentKeyError>) {
        completion.resolve(result.map { PlayerLicense(ckc: $0, renewalDate: renewalDate) })
    }

    /// These players request the renewal themselves, at the announced date or on their own schedule.
    func renew() -> Bool { keys != nil }

    func ended(_ error: ContentKeyError) { keys?.ended(self, error) }
}
