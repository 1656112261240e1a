import LatchkeyCore

/// How far a key has come, told from its events: what to name when its time is over.
final class Progress: Sendable {
    private struct State {
        var ended: Set<ContentKeyError.Stage> = []
        var failure: String?
    }

    private let state = Locked(State())

    func note(_ kind: KeyEvent.Kind) {
        state.withLock { state in
            switch kind {
            case .stageEnded(let stage, _): state.ended.insert(stage)
            case .retrying(_, _, let code): state.failure = code
            default: break
            }
        }
    }

    /// The stage under way: the first that has not ended.
    var stage: ContentKeyError.Stage {
        state.withLock { state in ContentKeyError.Stage.allCases.first { !state.ended.contains($0) } ?? .answer }
    }

    /// The code of the last attempt that failed.
    var failure: String? { state.withLock { $0.failure } }
}
