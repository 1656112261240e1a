import LatchkeyCore
public import StandInEngine

/// An app's data source, held weakly.
///
/// `Source` is the SDK's protocol as an existential of class type.
public final class WeakDataSource<Source>: Sendable {
    private struct State {
        weak var object: AnyObject?
        var wasSet = false
    }

    private let name: String
    private let stage: StandInStage
    private let state = Locked(State())

    /// - Parameters:
    ///   - name: the name of the player's property, for violations.
    ///   - stage: the stage of the player.
    public init(_ name: String, on stage: StandInStage) {
        self.name = name
        self.stage = stage
    }

    /// The data source; `nil` if there is none or if it was released.
    public var source: Source? {
        get {
            state.withLock { state in
                // Sound: the real SDK calls an app's data source on any thread, too.
                nonisolated(unsafe) let object = state.object
                return object
            } as? Source
        }
        set {
            // Sound for the same reason as above.
            nonisolated(unsafe) let object = newValue.map { $0 as AnyObject }
            state.withLock { $0 = State(object: object, wasSet: object != nil) }
        }
    }

    /// Calls the data source, or records that it was released.
    public func call(_ body: (Source) -> Void) {
        if let source { return body(source) }
        // After a cancellation the app may have released it.
        let mayBeGone = stage.misbehaves(.dropsDelegate) || stage.misbehaves(.cancelsMidway)
        if state.withLock({ $0.wasSet }), !mayBeGone { stage.log.note(.delegateGone, name) }
        CallbackProbe.noteNobody()
    }

    /// Releases the data source after the first request, if the players have that misbehavior.
    public func dropIfMisbehaving() {
        if stage.misbehaves(.dropsDelegate) { source = nil }
    }
}
