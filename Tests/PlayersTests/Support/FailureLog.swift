import Foundation
import Latchkey
import LatchkeyCore
import Testing

/// The failures that an adapter reported to its app.
final class FailureLog: Sendable {
    private struct State {
        var failures: [KeyFailure] = []
        var watchers: [(condition: @Sendable ([KeyFailure]) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
            []
    }

    private let state = Locked(State())

    var all: [KeyFailure] { state.withLock { $0.failures } }
    var errors: [NSError] { all.map(\.error) }
    /// The errors' codes, such as `forbidden`; a player's own error has a number.
    var codes: [String] { all.map { $0.loaderError?.code ?? "\($0.error.code)" } }
    /// Everything that the failures show in some way.
    var text: String { all.map { "\($0) \($0.error.userInfo)" }.joined(separator: "\n") }

    func add(_ failure: KeyFailure) {
        let met = state.withLock { state in
            state.failures.append(failure)
            let failures = state.failures
            defer { state.watchers.removeAll { $0.condition(failures) } }
            return state.watchers.filter { $0.condition(failures) }.map(\.continuation)
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits until there is at least a number of failures.
    func until(_ count: Int) async { await until { $0.count >= count } }

    /// Waits until there is a failure with a code.
    func until(_ code: String) async { await until { $0.contains { $0.loaderError?.code == code } } }

    private func until(_ condition: @escaping @Sendable ([KeyFailure]) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMet = state.withLock { state in
                let isMet = condition(state.failures)
                if !isMet { state.watchers.append((condition, continuation)) }
                return isMet
            }
            if isMet { continuation.resume() }
        }
    }
}

/// The `onFailure` of an app that expects no failure.
@Sendable func unexpected(_ failure: KeyFailure) { Issue.record("\(failure.error)") }

extension KeyFailure {
    /// Whether the error is Latchkey's, with a number, a text and a remedy.
    var isComplete: Bool { error.isComplete }
}

extension NSError {
    /// Whether the error is Latchkey's, with a number, a text and a remedy.
    var isComplete: Bool {
        domain == ContentKeyError.errorDomain && code >= 100 && !localizedDescription.isEmpty
            && (userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String)?.isEmpty == false
    }
}
