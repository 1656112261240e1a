public import Foundation
import LatchkeyCore
import StandInEngine

/// Provides an app's objects to players.
public protocol PTMediaPlayerClientFactory: NSObjectProtocol {
    func retrievePTAVAssetResourceLoader() -> (any PTAVAssetResourceLoaderDelegate)!
}

extension PTMediaPlayerClientFactory {
    public func retrievePTAVAssetResourceLoader() -> (any PTAVAssetResourceLoaderDelegate)! { nil }
}

/// The factory of a process. One loader serves all items of all players.
public final class PTDefaultMediaPlayerClientFactory: NSObject, PTMediaPlayerClientFactory {
    private struct State {
        var loader: (any PTAVAssetResourceLoaderDelegate)?
        var hasItemWithoutLoader = false
    }

    private let state = Locked(State())

    /// The default factory. Here there is one per stage, so that tests do not share it.
    public class func `default`() -> PTDefaultMediaPlayerClientFactory! {
        StandInStage.only { Only(PTDefaultMediaPlayerClientFactory()) }.object
    }

    /// The factory of a stage.
    static func only(on stage: StandInStage) -> PTDefaultMediaPlayerClientFactory {
        stage.only { Only(PTDefaultMediaPlayerClientFactory()) }.object
    }

    /// Registers the loader. Call it before the first item is loaded. Held strongly (inferred from the getter).
    public func registerPTAVAssetResourceLoader(_ loader: (any PTAVAssetResourceLoaderDelegate)!) {
        nonisolated(unsafe) let loader = loader
        let isLate = state.withLock { state in
            state.loader = loader
            return loader != nil && state.hasItemWithoutLoader
        }
        guard isLate else { return }
        StandInStage.current?.log.note(.delegateSetLate, "registerPTAVAssetResourceLoader came after an item.")
    }

    public func retrievePTAVAssetResourceLoader() -> (any PTAVAssetResourceLoaderDelegate)! {
        state.withLock { state in
            nonisolated(unsafe) let loader = state.loader
            return loader
        }
    }

    func noteItem() {
        state.withLock { state in
            if state.loader == nil { state.hasItemWithoutLoader = true }
        }
    }
}
