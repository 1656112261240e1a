public import Foundation
import LatchkeyCore
import StandInEngine

/// The SDK as a whole.
public final class OTVSDK: NSObject {
    /// Loads the SDK; before anything else of it.
    public class func load() { StandInStage.only { OTVDRMManager() }.noteLoad() }
}

/// Holds the license delegate of all players.
// Sound: what changes is in `state`, behind a lock; delegates are called from any thread in the real SDK as well.
public final class OTVDRMManager: NSObject, @unchecked Sendable {
    private struct State {
        var delegate: (any OTVLicenseDelegate)?
        var isLoaded = false
        var hasPlayerWithoutDelegate = false
    }

    /// The only one. Here there is one per stage, so that tests do not meet in it.
    public static var shared: OTVDRMManager { StandInStage.only { OTVDRMManager() } }

    private let state = Locked(State())

    /// Sets the delegate of all players that are made from here on. Held strongly (inferred from the documented sample).
    public func setLicenseDelegate(_ delegate: (any OTVLicenseDelegate)?) {
        nonisolated(unsafe) let delegate = delegate
        let isLate = state.withLock { state in
            state.delegate = delegate
            return delegate != nil && state.hasPlayerWithoutDelegate
        }
        if isLate { StandInStage.current?.log.note(.delegateSetLate, "setLicenseDelegate came after a player.") }
    }

    var delegate: (any OTVLicenseDelegate)? {
        state.withLock { state in
            nonisolated(unsafe) let delegate = state.delegate
            return delegate
        }
    }

    func dropDelegate() { state.withLock { $0.delegate = nil } }

    func noteLoad() { state.withLock { $0.isLoaded = true } }

    func notePlayer(on stage: StandInStage) {
        let isLoaded = state.withLock { state in
            if state.delegate == nil { state.hasPlayerWithoutDelegate = true }
            return state.isLoaded
        }
        if !isLoaded { stage.log.note(.libraryNotLoaded, "OTVSDK.load() was not called.") }
    }
}
