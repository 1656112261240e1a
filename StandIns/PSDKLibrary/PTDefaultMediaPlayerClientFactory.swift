public import Foundation
import LatchkeyCore
import StandInEngine

/// Gives players what belongs to an app.
public protocol PTMediaPlayerClientFactory: NSObjectProtocol {
    func retrievePTAVAssetResourceLoader() -> (any PTAVAssetResourceLoaderDelegate)!
}

extension PTMediaPlayerClientFactory {
    public func retrievePTAVAssetResourceLoader() -> (any PTAVAssetResourceLoaderDelegate)! { nil }
}

/// The factory of a process. One loader serves every item of every player.
// Sound: what changes is in `state`, behind a lock; the loader is called from any queue in the real SDK as well.
public final class PTDefaultMediaPlayerClientFactory: NSObject, PTMediaPlayerClientFactory, @unchecked Sendable {
    private struct State {
        var loader: (any PTAVAssetResourceLoaderDelegate)?
        var hasItemWithoutLoader = false
    }

    private let state = Locked(State())

    /// The only one. Here there is one per stage, so that tests do not meet in it.
    public class func `default`() -> PTDefaultMediaPlayerClientFactory! {
        StandInStage.only { PTDefaultMediaPlayerClientFactory() }
    }

    /// Registers the loader, before the first item is loaded. Held strongly (inferred from the getter).
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
