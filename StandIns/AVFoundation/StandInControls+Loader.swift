import Foundation
import LatchkeyCore
public import StandInEngine

// Like StandInControls.swift, this belongs to the stand-in: no Apple SDK has it.

extension AVAssetResourceLoader {
    /// The controls of the loader, for tests.
    public var standIn: StandIn { StandIn(loader: self) }

    /// The controls of a loader, for tests. Not in Apple's SDK.
    // Sound: the mutable state of a loader and its requests is behind locks.
    public struct StandIn: @unchecked Sendable {
        let loader: AVAssetResourceLoader

        /// The stage of the loader.
        public var stage: StandInStage { loader.stage }
        /// The requests that are not finished, if the app retains them.
        public var openRequests: [AVAssetResourceLoadingRequest] {
            loader.state.withLock { $0.handed.compactMap(\.request) }.filter { !$0.isFinished && !$0.isCancelled }
        }

        /// The URIs of the keys that decrypt now, and whose leases last that much longer.
        public func usableKeys(for duration: Duration) -> Set<String> {
            loader.state.withLock { state in Set(state.keys.filter { $0.value.isUsable(for: duration) }.keys) }
        }

        /// Requests a key as a stream does.
        /// - Throws: the error that the request finished with.
        public func request(_ uri: String) async throws { try await loader.provide([KeyURI(uri)]) }

        /// Requests a key again, as at its renewal date.
        public func renew(_ uri: String) async {
            guard let url = URL(string: uri) else { return }
            await loader.renew(KeyURI(uri), url)
        }

        /// Cancels an open request.
        public func cancel(_ request: AVAssetResourceLoadingRequest) { loader.cancel(request) }
    }
}

/// A request that only the app retains.
// Sound: as above.
struct HandedRequest: @unchecked Sendable {
    weak var request: AVAssetResourceLoadingRequest?
}
