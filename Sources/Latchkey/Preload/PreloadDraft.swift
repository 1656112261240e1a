import LatchkeyCore

/// Collects a preload's result; it can be read at any time.
final class PreloadDraft: Sendable {
    typealias Part = PreloadResult.Part
    typealias Outcome = PreloadResult.Outcome

    private struct State {
        var keys: [KeyURI] = []
        var outcomes: [KeyURI: [Part: Outcome]] = [:]
        var unread: [ContentKeyError] = []
        var requests = 0
    }

    private let keyLimit: Int
    private let state = Locked(State())

    init(keyLimit: Int) { self.keyLimit = keyLimit }

    /// Takes the keys that the stream names.
    /// - Returns: those among them that are new and within the limit.
    func add(_ keys: [KeyURI]) -> [KeyURI] {
        state.withLock { state in
            keys.filter { key in
                guard state.outcomes[key] == nil else { return false }
                let isWithin = state.keys.count < keyLimit
                state.keys.append(key)
                let beyond = Part.allCases.map { ($0, Outcome.skipped(.beyondLimit)) }
                state.outcomes[key] = isWithin ? [:] : Dictionary(uniqueKeysWithValues: beyond)
                return isWithin
            }
        }
    }

    func note(_ part: Part, _ outcome: Outcome, for key: KeyURI) {
        state.withLock { $0.outcomes[key, default: [:]][part] = outcome }
    }

    func note(unread error: ContentKeyError) { state.withLock { $0.unread.append(error) } }

    /// Counts an event's requests.
    func note(_ event: KeyEvent.Kind) {
        switch event {
        case .exchanged, .unanswered: countRequest()
        default: break
        }
    }

    func countRequest() { state.withLock { $0.requests += 1 } }

    func result(_ end: PreloadResult.End, took: Duration) -> PreloadResult {
        let open = Outcome.skipped(end == .cancelled ? .cancelled : .timeIsOver)
        let state = state.withLock { $0 }
        let keys = state.keys.map { key in
            let known = state.outcomes[key] ?? [:]
            let outcomes = Part.allCases.map { ($0, known[$0] ?? open) }
            return PreloadResult.Key(uri: key, outcomes: Dictionary(uniqueKeysWithValues: outcomes))
        }
        return PreloadResult(keys: keys, unread: state.unread, requests: state.requests, took: took, end: end)
    }
}
