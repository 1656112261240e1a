import Foundation
import LatchkeyCore
import LatchkeyHLS

/// Serves playlists from memory, counts requests, and delays fetches on demand.
final class MemoryFetcher: PlaylistFetching {
    struct NotFound: Error, Equatable {
        let uri: String
    }

    private struct State {
        var requests: [String] = []
        var open = 0
        var mostOpen = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let playlists: [String: [String]]
    private let redirects: [String: String]
    private let gate: Int
    private let state = Locked(State())

    /// - Parameters:
    ///   - playlists: the lines of each playlist, by URI. `#EXTM3U` is added.
    ///   - redirects: final URI by requested URI.
    ///   - gate: each fetch after the first waits until this many are open at the same time.
    init(_ playlists: [String: [String]], redirects: [String: String] = [:], gate: Int = 1) {
        self.playlists = playlists
        self.redirects = redirects
        self.gate = gate
    }

    var requests: [String] { state.withLock { $0.requests } }
    var mostOpen: Int { state.withLock { $0.mostOpen } }

    func playlist(at uri: String) async throws -> FetchedPlaylist {
        await enter(uri)
        defer { state.withLock { $0.open -= 1 } }
        let final = redirects[uri] ?? uri
        guard let lines = playlists[final] else { throw NotFound(uri: uri) }
        return FetchedPlaylist(bytes: Data((["#EXTM3U"] + lines).joined(separator: "\n").utf8), uri: final)
    }

    private func enter(_ uri: String) async {
        await withCheckedContinuation { continuation in
            let released = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.requests.append(uri)
                state.open += 1
                state.mostOpen = max(state.mostOpen, state.open)
                state.waiting.append(continuation)
                guard state.requests.count == 1 || state.open >= gate else { return [] }
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in released { waiter.resume() }
        }
    }
}
