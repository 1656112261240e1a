import LatchkeyCore

/// How far a key has come, told from its events: what to name when its time is over.
final class Progress: Sendable {
    private struct State {
        var ended: Set<ContentKeyError.Stage> = []
        var failure: String?
    }

    /// The stages that every key goes through.
    private static let stages: [ContentKeyError.Stage] = [.contentIdentifier, .certificate, .spc, .license]

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
        state.withLock { state in Self.stages.first { !state.ended.contains($0) } ?? .answer }
    }

    /// The code of the last attempt that failed.
    var failure: String? { state.withLock { $0.failure } }
}
