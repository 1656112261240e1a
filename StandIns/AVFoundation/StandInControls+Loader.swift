import Foundation
import LatchkeyCore
public import StandInEngine

// The stand-in's own, like all of StandInControls.swift: no Apple SDK has it.

extension AVAssetResourceLoader {
    /// What a test may see of a loader, and do with it.
    public var standIn: StandIn { StandIn(loader: self) }

    /// What a test may see of a loader, and do with it. Not in Apple's SDK.
    public struct StandIn: Sendable {
        let loader: AVAssetResourceLoader

        /// The stage that the loader is on.
        public var stage: StandInStage { loader.stage }
        /// The requests that wait for their end, as far as the app keeps them.
        public var openRequests: [AVAssetResourceLoadingRequest] {
            loader.state.withLock { $0.handed.compactMap(\.request) }.filter { !$0.isFinished && !$0.isCancelled }
        }

        /// Asks for a key as a stream does.
        /// - Throws: the error that the request ended with.
        public func request(_ uri: String) async throws { try await loader.provide([KeyURI(uri)]) }

        /// Asks for a key again, as at its renewal date.
        public func renew(_ uri: String) async {
            guard let url = URL(string: uri) else { return }
            await loader.renew(KeyURI(uri), url)
        }

        /// Gives an open request up.
        public func cancel(_ request: AVAssetResourceLoadingRequest) { loader.cancel(request) }
    }
}

/// A request that only the app keeps alive.
struct HandedRequest {
    weak var request: AVAssetResourceLoadingRequest?
}
