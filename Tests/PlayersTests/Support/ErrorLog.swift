import Foundation
import Latchkey
import LatchkeyCore

/// What an adapter said about errors that its player has no channel for.
final class ErrorLog: Sendable {
    private struct State {
        var errors: [NSError] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var all: [NSError] { state.withLock { $0.errors } }

    /// The errors' codes, such as `forbidden`.
    var codes: [String] { all.map { $0.userInfo[ContentKeyError.UserInfoKey.code] as? String ?? "\($0.code)" } }

    /// Everything that the errors say.
    var text: String { all.map { "\($0) \($0.userInfo)" }.joined(separator: "\n") }

    func add(_ error: NSError) {
        let met = state.withLock { state in
            state.errors.append(error)
            let count = state.errors.count
            let met = state.watchers.filter { $0.count <= count }.map(\.continuation)
            state.watchers.removeAll { $0.count <= count }
            return met
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits until there are so many errors.
    func until(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                let isThere = state.errors.count >= count
                if !isThere { state.watchers.append((count, continuation)) }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }
}

extension NSError {
    /// Whether the error is Latchkey's, with a number, a text and a remedy.
    var isComplete: Bool {
        domain == ContentKeyError.errorDomain && code >= 100 && !localizedDescription.isEmpty
            && (userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String)?.isEmpty == false
    }
}
