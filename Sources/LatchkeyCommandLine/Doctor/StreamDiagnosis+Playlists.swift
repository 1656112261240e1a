import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyForms
import LatchkeyHLS
import LatchkeySimulation
import LatchkeyTerminal

// The stream's playlists and what their key tags say.
extension StreamDiagnosis {
    func stream(at place: String, _ resources: WebResources) async -> Stream {
        let found: DiscoveredKeys
        do { found = try await KeyDiscovery(resources, scope: .everyMediaPlaylist).keys(at: place) } catch {
            return Stream(checks: [Checkup(.playlist, Failure(error))])
        }
        let checks = summary(of: found) + missing(found) + tags(of: found) + oddities(of: found)
        return Stream(checks: checks, keys: found.fairPlayURIs, playlists: mediaPlaylists(of: found))
    }

    private func mediaPlaylists(of found: DiscoveredKeys) -> [Playlist] {
        let pictures = found.playlists.flatMap(\.playlist.streams).filter { $0.kind == .iFrames }.compactMap(\.uri)
        return found.playlists.filter { !pictures.contains($0.requestedURI) && $0.playlist.kind == .media }
            .map(\.playlist)
    }

    private func summary(of found: DiscoveredKeys) -> [Checkup] {
        let keys = found.fairPlayURIs
        guard keys.isEmpty else {
            let playlists = found.playlists.count.counted("playlist")
            return [.ok(.playlist, "\(keys.count.counted("FairPlay key")) in \(playlists)")]
        }
        let others = Set(found.keys.map(\.format.text)).sorted()
        if let near = others.first(where: { Self.isMeantAsFairPlay($0) }) {
            return [
                .error(
                    .playlist, "keyFormatMisspelled",
                    "The key tags have KEYFORMAT \(quoted(near)), which is not FairPlay's.",
                    "Have the packager write KEYFORMAT=\"\(KeyFormat.fairPlay.text)\", letter for letter.")
            ]
        }
        if found.keys.contains(where: { $0.uri.scheme?.lowercased() == "skd" && $0.format == .identity }) {
            return [
                .error(
                    .playlist, "keyFormatMissing", "The skd: key has no KEYFORMAT, so that it is no FairPlay key.",
                    "Have the packager write KEYFORMAT=\"\(KeyFormat.fairPlay.text)\".")
            ]
        }
        let instead =
            others.isEmpty ? "" : ", but keys of \(others.prefix(4).map { quoted($0) }.joined(separator: ", "))"
        return [
            .error(
                .playlist, "noFairPlayKey", "The stream names no FairPlay key\(instead).",
                "Have the packager write EXT-X-KEY with KEYFORMAT \"\(KeyFormat.fairPlay.text)\".")
        ]
    }

    /// Whether a KEYFORMAT is FairPlay's but for case, blanks or a slip.
    private static func isMeantAsFairPlay(_ text: String) -> Bool {
        text.lowercased().contains("fairplay") || text.lowercased().contains("com.apple.fps")
            || Spelling.distance(text, KeyFormat.fairPlay.text) <= 4
    }

    private func missing(_ found: DiscoveredKeys) -> [Checkup] {
        let shown = found.failures.prefix(Self.mostShown).map {
            Checkup(.playlist, Failure($0.error), about: "A playlist is missing")
        }
        let more = found.failures.count - shown.count
        return shown + (more > 0 ? [.skipped(.playlist, "\(more) more playlists are missing.")] : [])
    }

    /// Key tags that no FairPlay device takes.
    private func tags(of found: DiscoveredKeys) -> [Checkup] {
        let tags = found.keys.filter { $0.format == .fairPlay }.flatMap(\.places).map(\.tag)
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
                    "The FairPlay keys have METHOD=AES-128; Apple asks for SAMPLE-AES.",
                    "Have the packager encrypt samples and write METHOD=SAMPLE-AES."))
        }
        if case .other(let name)? = tags.lazy.map(\.method).first(where: { if case .other = $0 { true } else { false } }
        ) {
            checks.append(
                .error(
                    .playlist, "unknownMethod",
                    "The FairPlay keys have METHOD=\(name.prefix(40)), which no player knows.",
                    "Have the packager write METHOD=SAMPLE-AES."))
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

    private func oddities(of found: DiscoveredKeys) -> [Checkup] {
        found.warnings.prefix(Self.mostShown).map {
            .warning(.playlist, "oddPlaylist", "\($0)", "Look at the packager's settings.")
        }
    }

    /// How many of one kind are shown.
    private static let mostShown = 8
}
