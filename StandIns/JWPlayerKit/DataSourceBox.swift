import Dispatch
import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// Holds a data source weakly, and calls it.
final class DataSourceBox: Sendable {
    private struct State {
        weak var source: (any JWDRMContentKeyDataSource)?
        var wasSet = false
    }

    private let stage: StandInStage
    private let state = Locked(State())

    init(on stage: StandInStage) { self.stage = stage }

    var source: (any JWDRMContentKeyDataSource)? {
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
    private var present: (any JWDRMContentKeyDataSource)? {
        if let source { return source }
        // A player that gave up asks all the same, when the app may have let go.
        let mayBeGone = stage.misbehaves(.dropsDelegate) || stage.misbehaves(.cancelsMidway)
        if state.withLock({ $0.wasSet }), !mayBeGone {
            stage.log.note(.delegateGone, "contentKeyDataSource")
        }
        CallbackProbe.noteNobody()
        return nil
    }

    /// The three calls.
    var calls: CompletionHooks.Calls {
        CompletionHooks.Calls(
            names: ("contentIdentifierForURL", "appIdentifierForURL", "contentKeyWithSPCData"),
            identifier: { [self] url, answer in
                present?.contentIdentifierForURL(url) { answer.give($0) }
            },
            certificate: { [self] url, answer in
                present?.appIdentifierForURL(url) { answer.give($0) }
            },
            key: { [self] spc, answer in
                present?.contentKeyWithSPCData(spc) {
                    answer.give(.init($0, renewalDate: $1, contentType: $2))
                }
                if stage.misbehaves(.dropsDelegate) { source = nil }
            })
    }

    func hooks(on queue: DispatchQueue) -> CompletionHooks {
        CompletionHooks(calls, on: queue, stage) { JWError($0) }
    }
}
