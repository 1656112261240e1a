import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// Holds a data source weakly, and calls it.
final class DataSourceBox: Sendable {
    private struct State {
        weak var source: (any JWDrmDataSource)?
        var wasSet = false
    }

    private let stage: StandInStage
    private let state = Locked(State())

    init(on stage: StandInStage) { self.stage = stage }

    var source: (any JWDrmDataSource)? {
        get {
            state.withLock { state in
                // Sound: an app's data source is called from any thread in the real SDK as well.
                nonisolated(unsafe) let source = state.source
                return source
            }
        }
        set {
            // Sound: as above.
            nonisolated(unsafe) let source = newValue
            state.withLock { $0 = State(source: source, wasSet: source != nil) }
        }
    }

    /// The source, for a call to it.
    private var present: (any JWDrmDataSource)? {
        if let source { return source }
        // A player that gave up asks all the same, when the app may have let go.
        let mayBeGone = stage.misbehaves(.dropsDelegate) || stage.misbehaves(.cancelsMidway)
        if state.withLock({ $0.wasSet }), !mayBeGone {
            stage.log.note(.delegateGone, "drmDataSource")
        }
        CallbackProbe.noteNobody()
        return nil
    }

    /// The three calls.
    var calls: CompletionHooks.Calls {
        CompletionHooks.Calls(
            names: ("fetchContentIdentifier", "fetchAppIdentifier", "fetchContentKey"),
            identifier: { [self] url, answer in
                present?.fetchContentIdentifier(forRequest: url, for: .fairPlay) { answer.give($0) }
            },
            certificate: { [self] url, answer in
                present?.fetchAppIdentifier(forRequest: url, for: .fairPlay) { answer.give($0) }
            },
            key: { [self] spc, answer in
                present?.fetchContentKey(withRequest: spc, for: .fairPlay) {
                    answer.give(.init($0, renewalDate: $1, contentType: $2))
                }
                if stage.misbehaves(.dropsDelegate) { source = nil }
            })
    }
}
