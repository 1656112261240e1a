import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyHLS
import LatchkeySimulation
import LatchkeyTerminal

// Checks of the stream's playlists and their key tags.
extension StreamDiagnosis {
    func stream(at place: String, _ resources: WebResources) async -> Stream {
        let found: DiscoveredKeys
        do { found = try await KeyDiscovery(resources).keys(at: place) } catch {
            return Stream(checks: [Checkup(.playlist, Failure(error))])
        }
        let playlists = PlaylistChecks(found, redaction: profile.redaction)
        let checks = playlists.checks
        // Unused keys need no license; services bill licenses, and refuse a key that was never made.
        let unused = Set(found.unusedSessionKeys.map(\.uri))
        return Stream(
            checks: summary(of: found, after: checks) + missing(found) + checks + oddities(of: found),
            keys: found.fairPlayURIs.filter { !unused.contains($0) }, playlists: found.soundAndPictures,
            isClear: playlists.isClear)
    }

    private func summary(of found: DiscoveredKeys, after checks: [Checkup]) -> [Checkup] {
        let keys = found.fairPlayURIs
        guard keys.isEmpty else {
            let texts = found.subtitles
            let silent = found.playlists.count { texts.contains($0.requestedURI) }
            let left = silent == 0 ? "" : "; subtitles were not looked at"
            let playlists = found.playlists.count.counted("playlist")
            return [.ok(.playlist, "\(keys.count.counted("FairPlay key")) in \(playlists)\(left)")]
        }
        guard !checks.contains(where: { $0.result == .error }) else { return [] }
        let others = Set(found.keys.map(\.format.text)).sorted()
        let instead =
            others.isEmpty ? "" : ", but keys of \(others.prefix(4).map { quoted($0) }.joined(separator: ", "))"
        return [.noFairPlayKey("The stream names no FairPlay key\(instead).")]
    }

    private func missing(_ found: DiscoveredKeys) -> [Checkup] {
        let shown = found.failures.prefix(Self.mostShown).map {
            Checkup(.playlist, Failure($0.error), about: "A playlist is missing")
        }
        let more = found.failures.count - shown.count
        return shown + (more > 0 ? [.skipped(.playlist, "\(more) more playlists are missing.")] : [])
    }

    private func oddities(of found: DiscoveredKeys) -> [Checkup] {
        found.warnings.prefix(Self.mostShown).map {
            .warning(.playlist, "oddPlaylist", "\($0)", "Look at the packager's settings.")
        }
    }

    /// The maximum number of findings shown of one kind.
    private static let mostShown = 8
}

extension DiscoveredKeys {
    /// The playlists of audio and video; subtitles hold text, which is never encrypted.
    var soundAndPictures: [Playlist] {
        let texts = subtitles
        return playlists.filter { !texts.contains($0.requestedURI) && $0.playlist.kind == .media }.map(\.playlist)
    }

    /// The addresses of the playlists of subtitles.
    var subtitles: Set<String> {
        let entries = playlists.flatMap(\.playlist.streams)
        return Set(entries.filter { $0.kind == .rendition(type: "SUBTITLES") }.compactMap(\.uri))
    }
}

extension Checkup {
    static func noFairPlayKey(_ reason: String) -> Checkup {
        .error(
            .playlist, "noFairPlayKey", reason,
            "Have the packager write EXT-X-KEY with KEYFORMAT \"\(KeyFormat.fairPlay.text)\".")
    }
}

extension [DeliveryFinding] {
    /// The findings as checks of the media, or of the playlists.
    var checks: [Checkup] {
        map { finding in
            let step: Checkup.Step = finding.code.hasPrefix("range") ? .media : .playlist
            return finding.isRefused
                ? .error(step, finding.code, finding.reason, finding.remedy)
                : .warning(step, finding.code, finding.reason, finding.remedy)
        }
    }
}
