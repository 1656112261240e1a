public import Foundation
public import LatchkeyCore
public import LatchkeyVendors

/// What a player offers when it wants a key: the key's URI, a way to make an SPC, and a place for the answer.
///
/// An adapter conforms its player's request to this. The loader calls `makeSPC` once and `answer` exactly once, from no
/// particular isolation; hop where the player wants it. The loader holds an answered request as long as it keeps the key alive,
/// and then calls `renew` and `ended`.
public protocol PlayerKeyRequest: Sendable {
    /// The key's URI as the playlist states it.
    var keyURI: KeyURI { get }

    /// What the key is wanted for.
    var purpose: KeyPurpose { get }

    /// Which of the app's players asks. A key is kept alive once per player.
    var player: PlayerID { get }

    /// Has the player's content decryption module make an SPC.
    /// - Parameters:
    ///   - certificate: the application certificate, DER.
    ///   - contentIdentifier: what the license service knows the key by.
    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data

    /// Hands over the CKC, or says why there is none.
    func answer(_ result: Result<Data, ContentKeyError>)

    /// The key that the player is about to get wants to be renewed at a date. For a player that has to be told the date with the
    /// key, and then comes by itself; called before `answer`, and not at all for a key that is not renewed.
    func renewalPlanned(at date: Date)

    /// Has the player ask for this key again: a new request with the same key URI and player, a new SPC, and the purpose
    /// `renewal`. Called ahead of the end of the key's lease, and again where the renewal failed.
    /// - Returns: whether the player can.
    func renew() -> Bool

    /// The key's life ended although it is still wanted: its lease was not renewed in time, or its session failed.
    /// Called at most once, after the answer.
    func ended(_ error: ContentKeyError)
}

extension PlayerKeyRequest {
    public var purpose: KeyPurpose { .streaming }
    public var player: PlayerID { .only }
    public func renewalPlanned(at date: Date) {}
    public func renew() -> Bool { false }
    public func ended(_ error: ContentKeyError) {}
}

/// A request for a key that the app stores, to play without a network.
public protocol PersistableKeyRequest: PlayerKeyRequest {
    /// Has the player turn a CKC into the key that is stored; the loader stores it, and answers with it.
    func persistableKey(from ckc: Data) throws -> Data

    /// Whether a key that is stored already answers the request.
    var storedKey: StoredKeyUse { get }
}

extension PersistableKeyRequest {
    public var purpose: KeyPurpose { .persistable }
    public var storedKey: StoredKeyUse { .answers }
}

/// What becomes of a key that is stored already.
public enum StoredKeyUse: Sendable, Hashable {
    /// It answers the request, without a network.
    case answers
    /// It is replaced by a new one, and stays where there is none.
    case isReplaced
}

/// Which of an app's players a key request belongs to, where several share a loader.
public struct PlayerID: Sendable, Hashable, ExpressibleByStringLiteral {
    let name: String

    /// - Parameter name: any text that no other player of the loader has.
    public init(_ name: String) { self.name = name }

    public init(stringLiteral value: String) { self.init(value) }

    /// The one player of an app that has no other.
    public static let only: Self = ""
}

/// A key request that is answered once, whatever happens: a second answer is ignored, and going away without one is an error.
final class OpenKeyRequest: Sendable {
    private struct State {
        var isAnswered = false
        var isGivenUp = false
        var task: Task<Void, Never>?
    }

    let request: any PlayerKeyRequest
    private let state = Locked(State())

    init(_ request: any PlayerKeyRequest) { self.request = request }

    deinit {
        answer(
            .failure(
                ContentKeyError(
                    .dropped, "The key request was dropped.", remedy: "Report this as an error in Latchkey.")))
    }

    /// The task that works on the answer.
    var work: Task<Void, Never>? { state.withLock { $0.task } }

    /// Says what works on the answer; it is cancelled when the request is given up.
    func attach(_ task: Task<Void, Never>) {
        let isGivenUp = state.withLock { state in
            state.task = task
            return state.isGivenUp
        }
        if isGivenUp { task.cancel() }
    }

    /// - Parameter noting: called before the answer is given, if this is the one.
    /// - Returns: whether this was the answer.
    @discardableResult
    func answer(_ result: Result<Data, ContentKeyError>, noting: () -> Void = {}) -> Bool {
        guard close() else { return false }
        noting()
        request.answer(result)
        return true
    }

    /// Ends the request with an error, and the work on it.
    func giveUp(_ error: ContentKeyError) {
        stopWork()
        answer(.failure(error))
    }

    /// Ends the request without an answer, and the work on it.
    func abandon() {
        close()
        stopWork()
    }

    private func stopWork() {
        state.withLock { $0.isGivenUp = true }
        work?.cancel()
    }

    /// Takes the right to answer, without answering.
    @discardableResult
    private func close() -> Bool {
        state.withLock { state in
            defer { state.isAnswered = true }
            return !state.isAnswered
        }
    }
}

/// A key request under way, and then the key, as its adapter holds it.
public struct KeyRequestHandle: Sendable {
    let open: OpenKeyRequest
    var letGo: @Sendable () -> Void = {}

    /// Ends the request with the error `cancelled`. A key that was answered stays.
    public func cancel() { open.giveUp(.cancelled) }

    /// Ends the request without an answer, for a player that has already given it up. A key that was answered stays.
    public func abandon() { open.abandon() }

    /// Says that the player needs the key no more: an open request ends with the error `cancelled`, and a key that was answered is
    /// renewed no longer. The handle of the first request speaks for its renewals too.
    public func release() {
        cancel()
        letGo()
    }
}
