import LatchkeyCore

/// Finds the keys of a stream, starting at its multivariant or media playlist.
///
/// Each playlist is fetched once, even if several entries or redirects lead to it. Playlists that fail become values in the
/// result; only a failure of the first playlist is thrown.
///
/// Source: RFC 8216 §4.3.4.5 and §6.3.1, `Documentation/HLS.md` §7 rules 8, 15 to 17, 20 and 21.
public struct KeyDiscovery: Sendable {
    /// The playlists that the keys of a multivariant playlist come from.
    public enum Scope: Sendable, Hashable {
        /// Its session keys, if one of them uses the key system `format`; otherwise all its media playlists. Session keys may
        /// name unused keys and leave out others (HLS.md rule 16), so this suits a first guess only.
        case sessionKeysSuffice
        /// Its session keys and all its media playlists. Also finds keys that the session keys leave out.
        case everyMediaPlaylist
        /// Its session keys and the media playlists of one pathway: with content steering, other pathways offer the same
        /// streams. If one of these playlists cannot be read, another pathway's are read instead.
        case onePathway
        /// Like `onePathway`, but reads only as many playlists of a quality ladder as are needed to distinguish its keys
        /// (HLS.md rule 23).
        case representatives
    }

    /// The playlists that keys come from. Defaults to `everyMediaPlaylist`.
    public var scope = Scope.everyMediaPlaylist
    /// Whether discovery also reads the assets that interstitials name by X-ASSET-URI. Defaults to `false`. Their keys may come from
    /// another vendor. Discovery never requests lists of assets (X-ASSET-LIST), because each request counts as an ad request.
    public var includesInterstitials = false
    /// If session keys of this key system exist, `sessionKeysSuffice` stops there. Keys of all systems are reported.
    public var format = KeyFormat.fairPlay
    /// The number of playlists fetched at one time. Defaults to 4.
    public var concurrentFetches = 4
    /// The number of playlists fetched in total, including the first one. Defaults to 200.
    public var maximumPlaylists = 200
    /// The total size of all playlists in bytes. Defaults to 128 MiB.
    public var maximumBytes = 128 << 20
    /// The maximum number of steps from the first playlist. Defaults to 2. Media playlists of a multivariant playlist are one step
    /// away, and a valid stream has no deeper ones.
    public var maximumDepth = 2
    /// The limits for each playlist.
    public var limits = PlaylistLimits()

    private let fetcher: any PlaylistFetching

    /// - Parameters:
    ///   - fetcher: loads the playlists.
    ///   - scope: the playlists that the keys of a multivariant playlist come from.
    public init(_ fetcher: any PlaylistFetching, scope: Scope = .everyMediaPlaylist) {
        self.fetcher = fetcher
        self.scope = scope
    }

    /// Reads the playlist at a URI, and the playlists it names as needed.
    ///
    /// - Throws: the fetcher's error or a `PlaylistError` if the first playlist cannot be read; `CancellationError`.
    public func keys(at uri: String) async throws -> DiscoveredKeys {
        var collector = KeyCollector()
        var wanted = [Request(uri: uri, parent: nil)]
        var known: Set<String> = [uri]
        var depth = 0
        while !wanted.isEmpty {
            let now = admitted(wanted, depth, &collector)
            let outcomes = await read(now, room: maximumBytes - collector.bytes)
            try Task.checkCancellation()
            if depth == 0, case .failure(let error)? = outcomes.first { throw error }
            wanted = []
            for (request, outcome) in zip(now, outcomes) {
                guard let playlist = collector.take(outcome, for: request.uri, known: &known) else { continue }
                if playlist.kind == .multivariant, scope == .onePathway || scope == .representatives {
                    wanted += try await assets(byPathwayOf: playlist, known: &known, &collector)
                    continue
                }
                wanted += next(from: playlist, of: request, known: &known, &collector)
            }
            depth += 1
        }
        return collector.finished()
    }

    typealias Outcome = Result<Playlist, any Error>

    struct Request: Sendable {
        let uri: String
        let parent: Playlist?
        /// Whether an interstitial led here. Interstitials inside interstitials are not followed.
        var isInterstitial = false
    }

    /// The requests that the limits allow. The others become failures.
    func admitted(_ requests: [Request], _ depth: Int, _ collector: inout KeyCollector) -> [Request] {
        // An interstitial's asset is a separate stream.
        let isTooDeep = depth - (includesInterstitials ? 2 : 0) > maximumDepth
        let room = isTooDeep ? 0 : max(0, maximumPlaylists - collector.fetched)
        for request in requests.dropFirst(room) {
            collector.fail(request.uri, isTooDeep ? Diagnosis.tooDeep : .tooManyPlaylists)
        }
        return Array(requests.prefix(room))
    }

    /// The requests that follow from a playlist, in order, without known ones.
    func next(
        from playlist: Playlist, of request: Request, known: inout Set<String>, _ collector: inout KeyCollector
    ) -> [Request] {
        guard playlist.kind == .multivariant else {
            guard includesInterstitials, !request.isInterstitial else { return [] }
            let assets = playlist.interstitials.compactMap(\.assetURI)
            return allowed(assets, from: playlist, known: &known, &collector).map {
                Request(uri: $0, parent: nil, isInterstitial: true)
            }
        }
        if scope == .sessionKeysSuffice, playlist.sessionKeyTags.contains(where: { $0.format == format }) { return [] }
        return allowed(playlist.streams.compactMap(\.uri), from: playlist, known: &known, &collector).map {
            Request(uri: $0, parent: playlist, isInterstitial: request.isInterstitial)
        }
    }

    /// The URIs that a playlist may lead to, without known ones.
    func allowed(
        _ uris: [String], from playlist: Playlist, known: inout Set<String>, _ collector: inout KeyCollector
    ) -> [String] {
        let parentScheme = URIReference(playlist.context.uri ?? "").scheme?.lowercased()
        return uris.filter { known.insert($0).inserted }.filter { uri in
            // A playlist from the network must not make the app read a file.
            let scheme = URIReference(uri).scheme?.lowercased()
            guard scheme == parentScheme || scheme == "http" || scheme == "https" else {
                collector.fail(uri, Diagnosis.schemeNotAllowed)
                return false
            }
            return true
        }
    }

    /// Reads playlists, several at a time. The outcomes are in the order of the requests.
    func read(_ requests: [Request], room: Int) async -> [Outcome] {
        await withTaskGroup(of: (Int, Outcome).self) { group in
            var waiting = requests.enumerated().makeIterator()
            var outcomes = [Outcome](repeating: .failure(Diagnosis.tooManyBytes), count: requests.count)
            var room = room
            func startNext() {
                guard room > 0, let (index, request) = waiting.next() else { return }
                group.addTask { (index, await read(request)) }
            }
            for _ in 0..<max(1, concurrentFetches) { startNext() }
            while let (index, outcome) = await group.next() {
                if case .success(let playlist) = outcome { room -= playlist.source.count }
                if room >= 0 { outcomes[index] = outcome }
                startNext()
            }
            return outcomes
        }
    }

    private func read(_ request: Request) async -> Outcome {
        do {
            try Task.checkCancellation()
            let fetched = try await fetcher.playlist(at: request.uri)
            let context = PlaylistContext(uri: fetched.uri, imports: request.parent?.variables, limits: limits)
            return .success(try Playlist(fetched.bytes, context: context))
        } catch {
            return .failure(error)
        }
    }
}
