public import Foundation
import LatchkeyCore
import StandInEngine

/// The SDK as a whole.
public final class OTVSDK: NSObject {
    /// Loads the SDK. Call it before anything else.
    public class func load() { OTVDRMManager.shared.noteLoad() }
}

/// Holds the license delegate of all players.
public final class OTVDRMManager: NSObject {
    /// The state of a manager, for any thread.
    // Sound: the real SDK calls delegates on any thread, too.
    struct State: @unchecked Sendable {
        var delegate: (any OTVLicenseDelegate)?
        var isLoaded = false
        var hasPlayerWithoutDelegate = false
    }

    /// The shared manager. Here there is one per stage, so that tests do not share it.
    public static var shared: OTVDRMManager { StandInStage.only { Only(OTVDRMManager()) }.object }

    /// The manager of a stage.
    static func only(on stage: StandInStage) -> OTVDRMManager { stage.only { Only(OTVDRMManager()) }.object }

    private let state = Locked(State())

    /// Sets the delegate of all players that are made later. Held strongly (inferred from the documented sample).
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
