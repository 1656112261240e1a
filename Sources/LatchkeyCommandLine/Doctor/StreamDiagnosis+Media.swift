import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyHLS
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyTerminal

// Decrypts segments of each key, rendition, key tag and period: a license says nothing about a wrong key or IV.
extension StreamDiagnosis {
    /// - Parameters:
    ///   - keys: the device's content keys; empty if only the containers can be checked.
    ///   - ignored: the code of errors that say nothing about the stream, such as parts that a capture lacks.
    func media(
        of stream: Stream, with keys: [KeyURI: ContentKey], _ web: WebResources, ignoring ignored: String? = nil
    ) async -> [Checkup] {
        let plan: SamplePlan
        do {
            plan = try SamplePlan(stream.playlists, limit: sampleLimit) { key in
                key.map { keys.isEmpty || keys[$0] != nil } ?? true
            }
        } catch { return [Checkup(.media, Failure(error))] }
        let needsDecoder = stream.isClear || !keys.isEmpty
        var (decoder, missing): (FFmpeg?, Failure?)
        if needsDecoder {
            do { decoder = try FFmpeg(deadline: .seconds(60)) } catch { missing = Failure(error) }
        }
        let trial = SampleTrial(keys: keys, decoder: decoder, download: StreamDownload(web))
        let findings = await trial.findings(plan.places).filter { ignored == nil || $0.failure?.code != ignored }
        let verdicts = SampleVerdicts(shown: shown, keys: keys)
        var checks = verdicts.checks(of: findings, keys: stream.keys)
        checks += unused(stream, keys, plan) + foreign(plan)
        if plan.leftOut > 0 {
            checks.append(
                .unseen(
                    .media,
                    "\(plan.leftOut.counted("segment")) of other key tags, periods or renditions were not tried.",
                    "Try more with --samples N."))
        }
        if let missing {
            checks.append(.skipped(.media, "Key and IV were not tried: \(missing.reason)", missing.remedy))
        }
        if !needsDecoder, ignored == nil {
            checks.append(.skipped(.media, "Whether the key opens the media was not tried: only the device has it."))
        }
        return checks
    }

    /// Keys that a tag of a media playlist names, and that open no segment.
    private func unused(_ stream: Stream, _ keys: [KeyURI: ContentKey], _ plan: SamplePlan) -> [Checkup] {
        guard plan.leftOut == 0 else { return [] }
        let used = Set(plan.places.compactMap(\.key))
        let named = Set(stream.playlists.flatMap(\.keyTags).compactMap(\.uri))
        return stream.keys.filter { named.contains($0) && !used.contains($0) && (keys.isEmpty || keys[$0] != nil) }
            .prefix(Self.mostKeysShown).map {
                .warning(
                    .media, "keyOpensNothing",
                    "\(shown($0)): an EXT-X-KEY names it, and no segment follows that uses it.",
                    "Check the order of the key tags in the media playlists.")
            }
    }

    /// Renditions that only keys of other systems open. Without a system a key is a plain AES key, which every player accepts.
    private func foreign(_ plan: SamplePlan) -> [Checkup] {
        plan.foreign.filter { playlist in
            let formats = Set(playlist.keyTags.filter { $0.method != .none }.map(\.format))
            return !formats.contains(.fairPlay) && formats != [.identity]
        }.prefix(Self.mostKeysShown).map {
            .warning(
                .media, "renditionWithoutFairPlay", "\($0.shownName): its segments have no FairPlay key.",
                "Have the packager write FairPlay's EXT-X-KEY into every media playlist that Apple devices may choose.")
        }
    }
}

extension Playlist {
    /// Whether segments or init sections are ranges of files.
    var hasRanges: Bool {
        ((try? segments()) ?? []).contains { $0.byteRange != nil || $0.map?.byteRange != nil }
    }

    /// The name of its file.
    var shownName: String {
        let path = (context.uri ?? "").prefix { $0 != "?" && $0 != "#" }
        return String((path.split(separator: "/").last ?? "the playlist").prefix(80)).visible
    }
}

extension SamplePlan.Place {
    /// Its playlist and line.
    var shown: String { "\(playlist.shownName), line \(segment.line)" }
}
