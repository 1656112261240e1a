public import Foundation
public import LatchkeyCore
public import LatchkeyVendors

/// What a player offers when it wants a key: the key's URI, a way to make an SPC, and a place for the answer.
///
/// An adapter conforms its player's request to this. The loader calls `makeSPC` once and `answer` exactly once, from no
/// particular isolation; hop where the player wants it.
public protocol PlayerKeyRequest: Sendable {
    /// The key's URI as the playlist states it.
    var keyURI: KeyURI { get }

    /// What the key is wanted for.
    var purpose: KeyPurpose { get }

    /// Has the player's content decryption module make an SPC.
    /// - Parameters:
    ///   - certificate: the application certificate, DER.
    ///   - contentIdentifier: what the license service knows the key by.
    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data

    /// Hands over the CKC, or says why there is none.
    func answer(_ result: Result<Data, ContentKeyError>)
}

extension PlayerKeyRequest {
    public var purpose: KeyPurpose { .streaming }
}

/// A key request that is answered once, whatever happens: a second answer is ignored, and going away without one is an error.
final class OpenKeyRequest: Sendable {
    let request: any PlayerKeyRequest
    private let isAnswered = Locked(false)

    init(_ request: any PlayerKeyRequest) { self.request = request }

    deinit {
        answer(
            .failure(
                ContentKeyError(
                    .dropped, "The key request was dropped.", remedy: "Report this as an error in Latchkey.")))
    }

    /// - Returns: whether this was the answer.
    @discardableResult
    func answer(_ result: Result<Data, ContentKeyError>) -> Bool {
        guard close() else { return false }
        request.answer(result)
        return true
    }

    /// Takes the right to answer, without answering.
    @discardableResult
    func close() -> Bool {
        isAnswered.withLock { isAnswered in
            defer { isAnswered = true }
            return !isAnswered
        }
    }
}

/// A key request under way, as its adapter holds it.
public struct KeyRequestHandle: Sendable {
    let open: OpenKeyRequest
    let task: Task<Void, Never>

    /// Ends the request with the error `cancelled`.
    public func cancel() {
        task.cancel()
        open.answer(.failure(.cancelled))
    }

    /// Ends the request without an answer, for a player that has already given it up.
    public func abandon() {
        open.close()
        task.cancel()
    }
}
