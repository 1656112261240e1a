import LatchkeyCore

/// Gathers the keys of playlists as they arrive.
struct KeyCollector {
    /// The number of playlists requested, read or not.
    var fetched = 0
    /// The number of bytes of the playlists read.
    var bytes = 0
    private var found = DiscoveredKeys()
    private var indexes: [Name: Int] = [:]
    /// At most one per playlist.
    private var hints: [(name: Name, hint: KeyHint)] = []
    private var finalURIs: Set<String> = []

    /// Two tags mean the same key if these are equal (HLS.md rule 17).
    private struct Name: Hashable {
        let format: KeyFormat
        let uri: KeyURI
    }

    /// Whether every playlist so far was read.
    var isWhole: Bool { found.failures.isEmpty }

    mutating func fail(_ uri: String, _ error: any Error) {
        found.failures.append(PlaylistFailure(uri: uri, error: error))
    }

    /// Adds a playlist. Returns `nil` if it failed, or if a redirect led to a playlist that was already read.
    mutating func take(
        _ outcome: Result<Playlist, any Error>, for uri: String, known: inout Set<String>
    ) -> Playlist? {
        fetched += 1
        switch outcome {
        case .failure(let error):
            fail(uri, error)
            return nil
        case .success(let playlist):
            let final = playlist.context.uri ?? uri
            known.insert(final)
            guard finalURIs.insert(final).inserted else { return nil }
            bytes += playlist.source.count
            found.playlists.append(ReadPlaylist(requestedURI: uri, playlist: playlist))
            found.warnings += playlist.warnings.map { DiscoveryWarning(playlistURI: final, warning: $0) }
            for tag in playlist.sessionKeyTags { add(tag, of: playlist, final, isSessionKey: true) }
            for tag in playlist.openingKeyTags { add(tag, of: playlist, final, isSessionKey: false) }
            if let hint = playlist.hintedKey { add(hint, of: playlist) }
            return playlist
        }
    }

    /// The result, with warnings if session keys and key tags disagree.
    consuming func finished() -> DiscoveredKeys {
        found.hintedKeys = hints.filter { indexes[$0.name] == nil }.map(\.hint)
        warnAboutMismatches()
        return found
    }

    private mutating func add(_ hint: KeyHint, of playlist: Playlist) {
        let name = Name(format: hint.format, uri: KeyURI(playlist.resolve(hint.uri.raw)))
        if !hints.contains(where: { $0.name == name }) { hints.append((name, hint)) }
    }

    private mutating func add(_ tag: KeyTag, of playlist: Playlist, _ playlistURI: String, isSessionKey: Bool) {
        guard tag.method != .none, let uri = tag.uri else { return }
        let place = DiscoveredKey.Occurrence(playlistURI: playlistURI, tag: tag, isSessionKey: isSessionKey)
        let resolved = playlist.resolve(uri.raw)
        let name = Name(format: tag.format, uri: KeyURI(resolved))
        if let index = indexes[name] {
            found.keys[index].places.append(place)
        } else {
            indexes[name] = found.keys.count
            found.keys.append(DiscoveredKey(format: tag.format, uri: uri, resolvedURI: resolved, places: [place]))
        }
    }

    /// HLS.md rule 15: a session key has the METHOD, KEYFORMAT and KEYFORMATVERSIONS of the key tags with its URI. If one URI serves
    /// several key systems, the session key is compared only with tags of the same key system.
    private mutating func warnAboutMismatches() {
        var stated: [String: [KeyFormat: Set<Manner>]] = [:]
        for key in found.keys {
            let manners = Set(key.places.filter { !$0.isSessionKey }.map { Manner($0.tag) })
            if !manners.isEmpty { stated[key.resolvedURI, default: [:]][key.format] = manners }
        }
        for key in found.keys {
            guard let byFormat = stated[key.resolvedURI] else { continue }
            for place in key.places where place.isSessionKey && byFormat[key.format] != [Manner(place.tag)] {
                let text = "EXT-X-SESSION-KEY differs from the EXT-X-KEY of its URI; the latter is right"
                let warning = PlaylistWarning(text, line: place.tag.line)
                found.warnings.append(DiscoveryWarning(playlistURI: place.playlistURI, warning: warning))
            }
        }
    }

    private struct Manner: Hashable {
        let method: KeyMethod
        let versions: String

        init(_ tag: KeyTag) {
            method = tag.method
            versions = tag.formatVersions
        }
    }
}
