import LatchkeyCore
import LatchkeyForms
import LatchkeyHLS
import LatchkeyPlayback
import LatchkeyTerminal

/// Checks of the keys in a stream's playlists, shared by `doctor`, `keys` and `play`.
struct PlaylistChecks {
    /// All playlists that were read.
    private let playlists: [Playlist]
    private let found: DiscoveredKeys?
    private let redaction: Redaction

    init(_ found: DiscoveredKeys, redaction: Redaction = .standard) {
        (playlists, self.found, self.redaction) = (found.playlists.map(\.playlist), found, redaction)
    }

    /// - Parameter playlist: a playlist that leads to no other.
    init(_ playlist: Playlist) { (playlists, found, redaction) = ([playlist], nil, .standard) }

    private var tags: [KeyTag] {
        playlists.flatMap { $0.sessionKeyTags + $0.keyTags }.filter { $0.method != .none }
    }

    /// Whether no key of any system is named, and no playlist is missing.
    var isClear: Bool {
        found?.failures.isEmpty != false && playlists.contains { $0.kind == .media } && tags.isEmpty
    }

    /// The errors and oddities.
    var checks: [Checkup] { keyFormats + methods + keyURIs + sessionKeys + replaced + interstitials + rules }

    func shown(_ key: KeyURI) -> String { String(redaction.redacted(urlText: key.raw).prefix(200)) }

    /// The maximum number of findings shown of one kind.
    private static let mostShown = 8
}

// MARK: - The rules of Apple's players

extension PlaylistChecks {
    /// Each rule that a playlist breaks, at its first breach.
    private var rules: [Checkup] {
        let all = playlists.flatMap { playlist in playlist.findings.map { (playlist, $0) } }
        var told: Set<StreamRule> = []
        return all.filter { told.insert($0.1.rule).inserted }.map { playlist, finding in
            let place = [playlists.count > 1 ? playlist.shownName : nil, finding.line.map { "line \($0)" }]
            let name = place.compactMap(\.self).joined(separator: ", ")
            let count = all.count { $0.1.rule == finding.rule }
            let check = Checkup(
                .playlist, finding, about: name.isEmpty ? nil : name.prefix(1).uppercased() + name.dropFirst())
            return count == 1 ? check : check.adding("The same is true of \(count) playlists.")
        }
    }
}

// MARK: - KEYFORMAT and METHOD

extension PlaylistChecks {
    private static func isEscaped(_ tag: KeyTag) -> Bool {
        tag.format.text.contains("\\\"") || tag.uri?.raw.contains("\\\"") == true
    }

    private var keyFormats: [Checkup] {
        var checks: [Checkup] = []
        if let tag = tags.first(where: Self.isEscaped) {
            checks.append(
                .error(
                    .playlist, "escapedQuotes",
                    "Line \(tag.line): the values of a key tag have a backslash before each quote, which HLS does not know.",
                    "Have the packager write plain quotes: KEYFORMAT=\"\(KeyFormat.fairPlay.text)\"."))
        }
        let plain = tags.filter { !Self.isEscaped($0) }
        if let near = plain.map(\.format).first(where: { $0 != .fairPlay && Self.isMeantAsFairPlay($0.text) }) {
            checks.append(
                .error(
                    .playlist, "keyFormatMisspelled",
                    "The key tags have KEYFORMAT \(quoted(near.text)), which is not FairPlay's.",
                    "Have the packager write KEYFORMAT=\"\(KeyFormat.fairPlay.text)\", letter for letter."))
        }
        let fairPlay = Set(tags.filter { $0.format == .fairPlay }.compactMap(\.uri))
        let bare = plain.filter { $0.format == .identity && $0.uri?.scheme?.lowercased() == "skd" }
        if bare.contains(where: { $0.uri.map { !fairPlay.contains($0) } ?? false }) {
            checks.append(
                .error(
                    .playlist, "keyFormatMissing", "The skd: key has no KEYFORMAT, so it is not a FairPlay key.",
                    "Have the packager write KEYFORMAT=\"\(KeyFormat.fairPlay.text)\"."))
        }
        return checks
    }

    /// Whether a KEYFORMAT is FairPlay's except for case, blanks or a misspelling.
    private static func isMeantAsFairPlay(_ text: String) -> Bool {
        text.lowercased().contains("fairplay") || text.lowercased().contains("com.apple.fps")
            || Spelling.distance(text, KeyFormat.fairPlay.text) <= 4
    }

    /// Key tags that no FairPlay device accepts.
    private var methods: [Checkup] {
        let tags = tags.filter { $0.format == .fairPlay }
        var checks: [Checkup] = []
        if tags.contains(where: { $0.method == .sampleAESCTR }) {
            checks.append(
                .error(
                    .playlist, "sampleAESCTR",
                    "The FairPlay keys have METHOD=SAMPLE-AES-CTR, which is for cenc; FairPlay opens cbcs.",
                    "Have the packager encrypt with cbcs and write METHOD=SAMPLE-AES."))
        }
        if tags.contains(where: { $0.method == .aes128 }) {
            checks.append(
                .warning(
                    .playlist, "wholeSegmentEncryption",
                    "The FairPlay keys have METHOD=AES-128; Apple requires SAMPLE-AES.",
                    "Have the packager encrypt samples and write METHOD=SAMPLE-AES."))
        }
        if let name = tags.lazy.compactMap({ if case .other(let name) = $0.method { name } else { nil } }).first {
            checks.append(
                .error(
                    .playlist, "unknownMethod",
                    "The FairPlay keys have METHOD=\(name.prefix(40)), which no player knows.",
                    "Have the packager write METHOD=SAMPLE-AES."))
        }
        let ivs = Dictionary(grouping: tags.filter { $0.ivBytes != nil }) { $0.uri }.mapValues {
            Set($0.compactMap(\.ivBytes))
        }
        if let key = tags.lazy.compactMap(\.uri).first(where: { (ivs[$0]?.count ?? 0) > 1 }) {
            checks.append(
                .warning(
                    .playlist, "oneURITwoIVs",
                    "\(shown(key)): its key tags state \(ivs[key]?.count ?? 0) IVs, and FairPlay gets one with the license.",
                    "Have the packager use one IV for a key, or give each IV its own key URI."))
        }
        if let tag = tags.first(where: { !$0.supportedVersions.contains(1) }) {
            checks.append(
                .warning(
                    .playlist, "keyFormatVersion",
                    "A FairPlay key has KEYFORMATVERSIONS \(quoted(tag.formatVersions)).",
                    "Have the packager write KEYFORMATVERSIONS=\"1\"."))
        }
        return checks
    }
}

// MARK: - Key URIs and session keys

extension PlaylistChecks {
    private var keyURIs: [Checkup] {
        var seen: Set<KeyURI> = []
        let keys = tags.filter { $0.format == .fairPlay && !Self.isEscaped($0) }.compactMap(\.uri)
            .filter { seen.insert($0).inserted }
        return Array(keys.lazy.compactMap { key in KeyURIFault(key)?.check(shown(key)) }.prefix(Self.mostShown))
    }

    /// Key tags that are replaced before a segment uses them.
    private var replaced: [Checkup] {
        let tags = playlists.filter { $0.kind == .media }.flatMap { playlist in
            Set(playlist.keyTags).subtracting(playlist.openingKeyTags).filter { $0.isFairPlay }
        }
        return tags.sorted { $0.line < $1.line }.prefix(Self.mostShown).compactMap { tag in
            tag.uri.map { uri in
                .warning(
                    .playlist, "keyTagReplaced",
                    "\(shown(uri)): the FairPlay key tag of line \(tag.line) opens nothing: another replaces it before a segment.",
                    "Have the packager write one FairPlay key tag for a run of segments; the last one counts.")
            }
        }
    }

    /// Interstitials have their own playlists and keys.
    private var interstitials: [Checkup] {
        let count = playlists.map(\.interstitials.count).reduce(0, +)
        guard count > 0 else { return [] }
        return [
            .skipped(
                .playlist,
                "\(count.counted("interstitial")) with playlists and keys of \(count == 1 ? "its" : "their") own \(count == 1 ? "was" : "were") not looked at.",
                "Look at each asset alone: latchkey doctor URL of its X-ASSET-URI.")
        ]
    }

    private var sessionKeys: [Checkup] {
        guard let found else { return [] }
        let unused = found.unusedSessionKeys.filter { $0.format == .fairPlay }
        let unnamed = found.keysWithoutSessionKey.filter { $0.format == .fairPlay }
        var checks = unused.prefix(Self.mostShown).map { key -> Checkup in
            .warning(
                .playlist, "keyOpensNothing",
                "\(shown(key.uri)): an EXT-X-SESSION-KEY names it, and no segment of the stream uses it.",
                "Write the keys of the media playlists' EXT-X-KEY tags into EXT-X-SESSION-KEY, or leave it out.")
        }
        if unused.count > checks.count {
            checks.append(.skipped(.playlist, "\(unused.count - checks.count) more session keys open nothing."))
        }
        // A live stream with changing keys cannot name them all.
        let media = playlists.filter { $0.kind == .media }
        if let first = unnamed.first, !unused.isEmpty || media.allSatisfy(\.isComplete) {
            let count = unnamed.count == 1 ? "" : " and \(unnamed.count - 1) more"
            checks.append(
                .warning(
                    .playlist, "keyWithoutSessionKey",
                    "\(shown(first.uri))\(count): segments need it, and no EXT-X-SESSION-KEY names it, though there are some.",
                    "Write all keys into EXT-X-SESSION-KEY, or none: preloads and downloads that use them would lack the others."
                ))
        }
        return checks
    }
}
