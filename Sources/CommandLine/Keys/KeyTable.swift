import LatchkeyHLS

/// A playlist's keys and the segments that they open, for people.
struct KeyTable {
    private let playlist: Playlist

    init(_ playlist: Playlist) { self.playlist = playlist }

    var text: String {
        var parts = [heading]
        if !playlist.sessionKeyTags.isEmpty { parts.append("Session keys\n" + table(of: playlist.sessionKeyTags)) }
        if !playlist.keyTags.isEmpty { parts.append("Keys\n" + table(of: playlist.keyTags)) }
        if !playlist.segmentRuns.isEmpty { parts.append(runs) }
        let uris = playlist.fairPlayURIs.map { "  \($0)" }
        parts.append(uris.isEmpty ? "No FairPlay key." : "FairPlay keys\n" + uris.joined(separator: "\n"))
        parts += playlist.warnings.map { "Warning: \($0)" }
        return parts.joined(separator: "\n\n")
    }

    private var heading: String {
        switch playlist.kind {
        case .multivariant: "Multivariant playlist, \(playlist.streams.count) streams"
        default: "Media playlist, \(playlist.segmentCount) segments"
        }
    }

    private func table(of tags: [KeyTag]) -> String {
        var table = TextTable("KEY", "LINE", "METHOD", "SYSTEM", "IV", "URI")
        for (index, tag) in tags.enumerated() {
            let system = tag.isFairPlay ? "FairPlay" : tag.method == .none ? "–" : tag.format.text
            table.add("\(index)", "\(tag.line)", tag.method.text, system, tag.iv ?? "–", tag.uri.map { "\($0)" } ?? "–")
        }
        return table.text
    }

    private var runs: String {
        var table = TextTable("SEGMENTS", "OPENED BY KEY")
        for run in playlist.segmentRuns {
            let last = run.first + run.count - 1
            let range = run.count == 1 ? "\(run.first)" : "\(run.first)–\(last)"
            table.add(range, run.keys.isEmpty ? "none, in clear" : run.keys.map(String.init).joined(separator: " or "))
        }
        return table.text
    }
}
