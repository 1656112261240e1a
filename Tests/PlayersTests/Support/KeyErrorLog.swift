import Foundation
import Latchkey
import LatchkeyCore

/// What an adapter told its app of errors.
final class KeyErrorLog: Sendable {
    private struct State {
        var errors: [(error: ContentKeyError, key: KeyURI?)] = []
        var watchers: [(code: String, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var errors: [ContentKeyError] { state.withLock { $0.errors.map(\.error) } }
    var codes: [String] { errors.map(\.code) }
    var keys: [KeyURI?] { state.withLock { $0.errors.map(\.key) } }
    /// Everything that the errors show in some way.
    var text: String { errors.map { "\($0) \($0.nsError) \($0.nsError.userInfo)" }.joined() }

    func add(_ error: ContentKeyError, _ key: KeyURI?) {
        let met = state.withLock { state in
            state.errors.append((error, key))
            let met = state.watchers.filter { $0.code == error.code }.map(\.continuation)
            state.watchers.removeAll { $0.code == error.code }
            return met
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits until an error with a code was told.
    func until(_ code: String) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                let isThere = state.errors.contains { $0.error.code == code }
                if !isThere { state.watchers.append((code, continuation)) }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }
}
