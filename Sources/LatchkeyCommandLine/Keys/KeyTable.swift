import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeyTerminal

/// A playlist's keys and the segments that they open, for people.
struct KeyTable {
    private let playlist: Playlist
    /// The findings in the media, or why it was not inspected.
    var media: ContainerLook?

    init(_ playlist: Playlist) { self.playlist = playlist }

    /// The tables, the distinct FairPlay keys, and the warnings.
    var text: String {
        let warnings =
            playlist.warnings.map { "Warning: \("\($0)".visible)" }
            + (PlaylistChecks(playlist).checks + (media?.checks ?? [])).map(\.line)
        return (tables + (media?.text ?? []) + [Self.fairPlay(playlist.fairPlayURIs)] + warnings).joined(
            separator: "\n\n")
    }

    /// The playlist's kind, its key tags, and its runs of segments.
    var tables: [String] {
        var parts = [heading]
        if !playlist.sessionKeyTags.isEmpty { parts.append("Session keys\n" + table(of: playlist.sessionKeyTags)) }
        if !playlist.keyTags.isEmpty { parts.append("Keys\n" + table(of: playlist.keyTags)) }
        if let hint = playlist.hintedKey { parts.append("Next key\n" + table(of: hint)) }
        if !playlist.segmentRuns.isEmpty { parts.append(runs) }
        return parts
    }

    /// A list of distinct FairPlay keys.
    static func fairPlay(_ uris: [KeyURI]) -> String {
        uris.isEmpty
            ? "No FairPlay key." : (["FairPlay keys"] + uris.map { "  \("\($0)".visible)" }).joined(separator: "\n")
    }

    private var heading: String {
        switch playlist.kind {
        case .multivariant: "Multivariant playlist, \(playlist.streams.count.counted("stream"))"
        default: "Media playlist, \(playlist.segmentCount.counted("segment"))"
        }
    }

    private func table(of tags: [KeyTag]) -> String {
        var table = TextTable("KEY", "LINE", "METHOD", "SYSTEM", "IV", "URI")
        for (index, tag) in tags.enumerated() {
            let system = tag.method == .none ? "–" : tag.format.system
            let uri = tag.uri.map { "\($0)" } ?? "–"
            table.add("\(index)", "\(tag.line)", tag.method.text, system, tag.iv ?? "–", uri)
        }
        return table.text
    }

    private func table(of hint: KeyHint) -> String {
        var table = TextTable("LINE", "SYSTEM", "FIRST USE", "URI")
        table.add("\(hint.line)", hint.format.system, hint.firstUse?.formatted(.iso8601) ?? "–", "\(hint.uri)")
        return table.text
    }

    private var runs: String {
        var table = TextTable("SEGMENTS", "OPENED BY KEY")
        for run in playlist.segmentRuns {
            let last = run.first + run.count - 1
            let range = run.count == 1 ? "\(run.first)" : "\(run.first)–\(last)"
            table.add(range, run.keys.isEmpty ? "none, in clear" : Self.alternatives(run.keys))
        }
        return table.text
    }
}

extension KeyTable {
    /// Key numbers, ascending; more than two in sequence as a range.
    static func alternatives(_ keys: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for key in keys {
            if let last = ranges.last, last.upperBound + 1 == key {
                ranges[ranges.count - 1] = last.lowerBound...key
            } else {
                ranges.append(key...key)
            }
        }
        return ranges.map { range in
            switch range.count {
            case 1: "\(range.lowerBound)"
            case 2: "\(range.lowerBound) or \(range.upperBound)"
            default: "any of \(range.lowerBound)–\(range.upperBound)"
            }
        }.joined(separator: " or ")
    }
}

extension KeyFormat {
    /// A name for people.
    fileprivate var system: String { self == .fairPlay ? "FairPlay" : text }
}

/// The playlists of a stream, each with its keys, and the keys of all of them, for people.
struct DiscoveryTable {
    private let discovered: DiscoveredKeys
    private let checks: [Checkup]
    private let media: ContainerLook

    /// - Parameter checks: the errors and oddities.
    init(_ discovered: DiscoveredKeys, _ checks: [Checkup], _ media: ContainerLook) {
        (self.discovered, self.checks, self.media) = (discovered, checks, media)
    }

    var text: String {
        let playlists = discovered.playlists.map { read in
            let place = Redaction.standard.redacted(urlText: read.playlist.context.uri ?? "").visible
            let tables = KeyTable(read.playlist).tables.joined(separator: "\n\n")
            return place.isEmpty ? tables : "\(place)\n\(tables)"
        }
        var keys = [KeyTable.fairPlay(discovered.usedFairPlayURIs)]
        let unused = discovered.unusedSessionKeys.filter { $0.format == .fairPlay }
        if !unused.isEmpty {
            let lines = unused.map { "  \("\($0.uri)".visible)" }
            keys.append((["FairPlay session keys that open nothing"] + lines).joined(separator: "\n"))
        }
        let warnings = discovered.warnings.map { "Warning: \("\($0)".visible)" } + checks.map(\.line)
        return (playlists + media.text + keys + warnings).joined(separator: "\n\n")
    }
}

extension DiscoveredKeys {
    /// The FairPlay keys without the session keys that open nothing.
    var usedFairPlayURIs: [KeyURI] {
        let unused = Set(unusedSessionKeys.filter { $0.format == .fairPlay }.map(\.uri))
        return fairPlayURIs.filter { !unused.contains($0) }
    }
}

extension Checkup {
    /// The problem and the remedy, in one line.
    var line: String {
        "\(result == .error ? "Error" : "Warning"): \([reason, remedy].compactMap(\.self).joined(separator: " ").visible)"
    }
}
