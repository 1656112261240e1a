public import Foundation
import LatchkeyCore

/// The keys of one player that makes SPCs by itself and wants them answered, as players with hooks and completion handlers do.
///
/// Each call's completion comes exactly once, also when the keys are released or go away. From its license on, the loader keeps a
/// key alive as for any other request. Safe to use from any thread; completions come on no particular one.
public final class PlayerKeys: Sendable {
    private struct State {
        var certificates: [ObjectIdentifier: SingleCompletion<Data>] = [:]
        var open: [ObjectIdentifier: SPCRequest] = [:]
        /// The requests that brought the keys.
        var held: [KeyURI: SPCRequest] = [:]
    }

    /// Gets the keys.
    public let loader: ContentKeyLoader
    private let player = PlayerID("PlayerKeys \(UUID().uuidString)")
    private let keyEnded: @Sendable (KeyURI, ContentKeyError) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - loader: gets the keys; several players may share it.
    ///   - ended: hears of a key whose life ended although it is still wanted.
    public init(
        _ loader: ContentKeyLoader, ended: @escaping @Sendable (KeyURI, ContentKeyError) -> Void = { _, _ in }
    ) {
        self.loader = loader
        keyEnded = ended
    }

    deinit { release() }

    /// Gets the application certificate, DER.
    public func certificate(completion: @escaping @Sendable (Result<Data, ContentKeyError>) -> Void) {
        let completion = SingleCompletion(completion)
        state.withLock { $0.certificates[ObjectIdentifier(completion)] = completion }
        startTask { [weak self, loader] in
            let result: Result<Data, ContentKeyError>
            do throws(ContentKeyError) { result = .success(try await loader.applicationCertificate().der) } catch {
                result = .failure(error)
            }
            self?.state.withLock { _ = $0.certificates.removeValue(forKey: ObjectIdentifier(completion)) }
            completion.give(result)
        }
    }

    /// Exchanges an SPC for a license.
    /// - Parameters:
    ///   - spc: what the player made.
    ///   - key: the key's URI as the playlist states it.
    ///   - purpose: what the key is wanted for; where the player does not say, a key that it has and that wants to be renewed is
    ///     asked for to renew it, and any other to play now.
    ///   - completion: takes the license, or why there is none; called once.
    public func license(
        for spc: Data, key: KeyURI, purpose: KeyPurpose? = nil,
        completion: @escaping @Sendable (Result<PlayerLicense, ContentKeyError>) -> Void
    ) {
        let request = state.withLock { state in
            let purpose = purpose ?? (state.held[key]?.renewalDate == nil ? .streaming : .renewal)
            let request = SPCRequest(SPCMessage(spc), key, purpose, player, self, completion)
            state.open[ObjectIdentifier(request)] = request
            return request
        }
        request.start(loader)
    }

    /// Says that the player goes away or goes on to another source: what is open ends with `cancelled`, and its keys are let go.
    public func release() {
        let state = state.withLock { state in
            defer { state = State() }
            return state
        }
        for completion in state.certificates.values { completion.give(.failure(.cancelled)) }
        for request in state.open.values { request.release() }
        for request in state.held.values { request.release() }
    }
}

/// A license as a player takes it.
public struct PlayerLicense: Sendable {
    /// The content key context.
    public let ckc: Data
    /// When the player should ask for the key again; nil where it needs no renewal.
    public let renewalDate: Date?
}

extension PlayerKeys {
    fileprivate func finished(_ request: SPCRequest, with result: Result<Data, ContentKeyError>) {
        state.withLock { state in
            state.open[ObjectIdentifier(request)] = nil
            // A renewal belongs to the key that is there, whose first request speaks for it.
            let isFirst = request.purpose == .streaming || state.held[request.keyURI] == nil
            guard case .success = result, request.purpose != .persistable, isFirst else { return }
            state.held[request.keyURI] = request
        }
    }

    fileprivate func ended(_ request: SPCRequest, _ error: ContentKeyError) {
        state.withLock { _ = $0.held.removeValue(forKey: request.keyURI) }
        keyEnded(request.keyURI, error)
    }
}

/// An SPC that waits for its license, and then the key.
private final class SPCRequest: PlayerKeyRequest, Sendable {
    private struct State {
        var handle: KeyRequestHandle?
        var isReleased = false
        var renewalDate: Date?
    }

    let keyURI: KeyURI
    let purpose: KeyPurpose
    let player: PlayerID
    private let spc: SPCMessage
    private weak let keys: PlayerKeys?
    /// Dropped with its call, as it holds the player, and the key may be held for long.
    private let completion: SingleCompletion<PlayerLicense>
    private let state = Locked(State())

    init(
        _ spc: SPCMessage, _ keyURI: KeyURI, _ purpose: KeyPurpose, _ player: PlayerID, _ keys: PlayerKeys,
        _ completion: @escaping @Sendable (Result<PlayerLicense, ContentKeyError>) -> Void
    ) {
        self.spc = spc
        self.keyURI = keyURI
        self.purpose = purpose
        self.player = player
        self.keys = keys
        self.completion = SingleCompletion(completion)
    }

    var renewalDate: Date? { state.withLock { $0.renewalDate } }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data { spc.bytes.revealed }

    func renewalPlanned(at date: Date) { state.withLock { $0.renewalDate = date } }

    func answer(_ result: Result<Data, ContentKeyError>) {
        keys?.finished(self, with: result)
        // The player stores it; nobody renews it as a lease.
        if purpose == .persistable { release() }
        completion.give(result.map { PlayerLicense(ckc: $0, renewalDate: renewalDate) })
    }

    /// Such a player comes by itself, at the date that it was told or by its own reckoning.
    func renew() -> Bool { keys != nil }

    func ended(_ error: ContentKeyError) { keys?.ended(self, error) }

    func start(_ loader: ContentKeyLoader) {
        let handle = loader.answer(self)
        let isReleased = state.withLock { state in
            state.handle = handle
            return state.isReleased
        }
        if isReleased { handle.release() }
    }

    func release() {
        let handle = state.withLock { state in
            state.isReleased = true
            return state.handle
        }
        handle?.release()
    }
}

/// A completion that is called once.
private final class SingleCompletion<Value: Sendable>: Sendable {
    typealias Completion = @Sendable (Result<Value, ContentKeyError>) -> Void

    private let completion: Locked<Completion?>

    init(_ completion: @escaping Completion) { self.completion = Locked(completion) }

    func give(_ result: Result<Value, ContentKeyError>) {
        let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        completion?(result)
    }
}
