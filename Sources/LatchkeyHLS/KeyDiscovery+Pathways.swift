import LatchkeyCore

/// The selection of media playlists to read if not all are needed (HLS.md rule 23).
extension KeyDiscovery {
    /// Reads the media playlists of one pathway, and those of the next pathway if any of them fails.
    /// - Returns: the requests for the interstitials' assets that they name.
    func assets(
        byPathwayOf playlist: Playlist, known: inout Set<String>, _ collector: inout KeyCollector
    ) async throws -> [Request] {
        var first: (KeyCollector, Set<String>, [Request])?
        var spent = (fetched: collector.fetched, bytes: collector.bytes)
        for pathway in playlist.pathways {
            var (attempt, seen) = (collector, known)
            (attempt.fetched, attempt.bytes) = spent
            let assets = try await assets(of: playlist, by: pathway, known: &seen, &attempt)
            spent = (attempt.fetched, attempt.bytes)
            if attempt.isWhole || first == nil { first = (attempt, seen, assets) }
            if attempt.isWhole { break }
        }
        guard let (attempt, seen, assets) = first else { return [] }
        (collector, known) = (attempt, seen)
        (collector.fetched, collector.bytes) = spent
        return assets
    }

    private func assets(
        of playlist: Playlist, by pathway: String, known: inout Set<String>, _ collector: inout KeyCollector
    ) async throws -> [Request] {
        var ladders = playlist.ladders(ofPathway: pathway) {
            !allowed([$0], from: playlist, known: &known, &collector).isEmpty
        }
        let listed = Set(playlist.sessionKeyTags.filter { $0.format == format }.compactMap(\.uri))
        var assets: [Request] = []
        while true {
            let wanted = ladders.indices.flatMap { ladder in
                ladders[ladder].next(listed: scope == .onePathway ? nil : listed).map { (ladder, $0) }
            }
            guard !wanted.isEmpty else { return assets }
            // Playlists beyond the limits are not requested again.
            for (ladder, index) in wanted { ladders[ladder].note(.failed, at: index) }
            let requests = admitted(wanted.map { Request(uri: ladders[$0].uris[$1], parent: playlist) }, 1, &collector)
            let outcomes = await read(requests, room: maximumBytes - collector.bytes)
            try Task.checkCancellation()
            for ((ladder, index), (request, outcome)) in zip(wanted, zip(requests, outcomes)) {
                if case .failure = outcome, ladders[ladder].takeBackup(at: index) {
                    collector.fetched += 1
                    continue
                }
                ladders[ladder].note(reading(outcome), at: index)
                guard let media = collector.take(outcome, for: request.uri, known: &known) else { continue }
                assets += next(from: media, of: request, known: &known, &collector)
            }
        }
    }

    private func reading(_ outcome: Outcome) -> Ladder.Reading {
        guard let playlist = try? outcome.get() else { return .failed }
        return .keys(Set(playlist.keyTags.filter { $0.format == format }.compactMap(\.uri)))
    }
}
