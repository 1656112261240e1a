import LatchkeyCore
import LatchkeyHLS

/// Finds a stream's FairPlay keys: session keys immediately, the others, and upcoming ones, when the media playlists are read.
struct StreamDiscovery: Sendable {
    enum Found: Sendable { case keys([KeyURI]), unread(ContentKeyError) }

    private let loader: PlaylistLoader
    private let limits: PreloadLimits
    /// Which media playlists are read.
    private let scope: KeyDiscovery.Scope

    init(_ loader: PlaylistLoader, _ limits: PreloadLimits, scope: KeyDiscovery.Scope = .representatives) {
        self.loader = loader
        self.limits = limits
        self.scope = scope
    }

    /// The keys below a playlist. Ends when everything is read; a reader that stops cancels the discovery.
    func keys(at uri: String) -> AsyncStream<Found> {
        AsyncStream { continuation in
            let task = startTask {
                await find(uri) { continuation.yield($0) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func find(_ uri: String, _ found: @Sendable (Found) -> Void) async {
        // The first playlist is read twice and fetched once.
        let first = await Result { try await loader.playlist(at: uri) }
        var discovery = KeyDiscovery(
            PlaylistFetcher { [loader] in $0 == uri ? try first.get() : try await loader.playlist(at: $0) },
            scope: .sessionKeysSuffice)
        discovery.maximumPlaylists = limits.playlists
        do {
            var known = try await discovery.keys(at: uri)
            found(.keys(known.worthPreloading))
            if known.isOfSessionKeysAlone, limits.playlists > 1 {
                discovery.scope = scope
                known = try await discovery.keys(at: uri)
                found(.keys(known.worthPreloading))
            }
            for failure in known.failures { found(.unread(ContentKeyError(failure.error, playlist: failure.uri))) }
        } catch {
            found(.unread(ContentKeyError(error, playlist: uri)))
        }
    }
}

extension DiscoveredKeys {
    fileprivate var worthPreloading: [KeyURI] { fairPlayURIs + hintedKeys.filter(\.isFairPlay).map(\.uri) }

    /// Whether the media playlists were left out because the multivariant playlist itself lists keys.
    fileprivate var isOfSessionKeysAlone: Bool {
        playlists.count == 1 && failures.isEmpty && playlists.first?.playlist.kind == .multivariant
    }
}
