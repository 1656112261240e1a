/// Finds the keys of a stream, from its multivariant or media playlist on.
///
/// Each playlist is fetched once, whatever number of entries names it, and by whatever redirect it is reached. Playlists
/// that fail become values in the result; only the first one's failure is thrown.
///
/// Source: RFC 8216 §4.3.4.5 and §6.3.1, `media.md` §7 rules 8, 15 to 17, 20 and 21.
public struct KeyDiscovery: Sendable {
    /// Where the keys of a multivariant playlist are taken from.
    public enum Scope: Sendable, Hashable {
        /// From its session keys, if any is of the key system looked for; else from all its media playlists.
        case sessionKeysSuffice
        /// From its session keys and from all its media playlists: finds also what the session keys leave out.
        case everyMediaPlaylist
    }

    /// Where keys are taken from.
    public var scope = Scope.sessionKeysSuffice
    /// The key system whose session keys suffice. Keys of all systems are reported.
    public var format = KeyFormat.fairPlay
    /// Playlists fetched at one time; 4 unless set.
    public var concurrentFetches = 4
    /// Playlists fetched in all, the first one included; 200 unless set.
    public var maximumPlaylists = 200
    /// Bytes of all playlists together; 128 MiB unless set.
    public var maximumBytes = 128 << 20
    /// How far a playlist may be from the first one; 2 unless set. Media playlists of a multivariant playlist are at 1,
    /// and nothing valid is farther.
    public var maximumDepth = 2
    /// What each playlist may demand.
    public var limits = PlaylistLimits()

    private let fetcher: any PlaylistFetching

    /// - Parameters:
    ///   - fetcher: loads the playlists.
    ///   - scope: where the keys of a multivariant playlist are taken from.
    public init(_ fetcher: any PlaylistFetching, scope: Scope = .sessionKeysSuffice) {
        self.fetcher = fetcher
        self.scope = scope
    }

    /// Reads the playlist at a URI and those it names, as far as they are needed.
    ///
    /// - Throws: the fetcher's error or a `PlaylistError` when the first playlist cannot be read; `CancellationError`.
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
                wanted += next(from: playlist, known: &known, &collector)
            }
            depth += 1
        }
        return collector.finished()
    }

    typealias Outcome = Result<Playlist, any Error>

    private struct Request: Sendable {
        let uri: String
        let parent: Playlist?
    }

    /// The requests that the limits leave; the others become failures.
    private func admitted(_ requests: [Request], _ depth: Int, _ collector: inout KeyCollector) -> [Request] {
        let isTooDeep = depth > maximumDepth
        let room = isTooDeep ? 0 : max(0, maximumPlaylists - collector.fetched)
        for request in requests.dropFirst(room) {
            collector.fail(request.uri, KeyDiscoveryError(isTooDeep ? .tooDeep : .tooManyPlaylists))
        }
        return Array(requests.prefix(room))
    }

    /// What a playlist leads to, in order and without what is known already.
    private func next(
        from playlist: Playlist, known: inout Set<String>, _ collector: inout KeyCollector
    ) -> [Request] {
        guard playlist.kind == .multivariant else { return [] }
        if scope == .sessionKeysSuffice, playlist.sessionKeyTags.contains(where: { $0.format == format }) { return [] }
        let parentScheme = URIReference(playlist.context.uri ?? "").scheme?.lowercased()
        return playlist.streams.compactMap(\.uri).filter { known.insert($0).inserted }.compactMap { uri in
            // A playlist from the network must not make the app read a file.
            let scheme = URIReference(uri).scheme?.lowercased()
            guard scheme == parentScheme || scheme == "http" || scheme == "https" else {
                collector.fail(uri, KeyDiscoveryError(.schemeNotAllowed))
                return nil
            }
            return Request(uri: uri, parent: playlist)
        }
    }

    /// Reads playlists, some at a time; the outcomes are in the order of the requests.
    private func read(_ requests: [Request], room: Int) async -> [Outcome] {
        await withTaskGroup(of: (Int, Outcome).self) { group in
            var waiting = requests.enumerated().makeIterator()
            var outcomes = [Outcome](repeating: .failure(KeyDiscoveryError(.tooManyBytes)), count: requests.count)
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
