import LatchkeyCore
import LatchkeyHLS
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyTerminal

/// Compares a stream's containers with what Apple's players accept. Needs neither keys nor a decoder.
struct ContainerLook: Encodable {
    /// The errors and oddities.
    private(set) var checks: [Checkup] = []
    /// The number of segments inspected.
    private(set) var segments = 0
    /// The number of segments of other key tags, periods and renditions that were not inspected.
    private(set) var leftOut = 0
    /// Why no segment was inspected; `nil` if one was.
    private(set) var notLookedAt: String?

    private enum CodingKeys: String, CodingKey { case segments, leftOut, notLookedAt }

    /// - Parameters:
    ///   - playlists: the media playlists.
    ///   - keys: the keys, in the order of the stream.
    ///   - limit: the maximum number of segments to load.
    init(at playlists: [Playlist], keys: [KeyURI], limit: Int, _ web: WebResources) async {
        let plan: SamplePlan
        do { plan = try SamplePlan(playlists.filter { $0.context.uri != nil }, limit: limit) } catch {
            checks = [Checkup(.media, Failure(error))]
            return
        }
        let trial = SampleTrial(keys: [:], decoder: nil, download: StreamDownload(web))
        let findings = await trial.findings(plan.places)
        segments = findings.count { $0.sample != nil }
        leftOut = plan.leftOut
        // A playlist alone, as a support desk has it.
        if segments == 0, findings.allSatisfy({ Self.isMissing($0.failure) }) {
            notLookedAt = findings.first?.failure?.reason ?? "No segment has an address."
            return
        }
        checks = SampleVerdicts(shown: { String(Redaction.standard.redacted(urlText: $0.raw).prefix(200)) }, keys: [:])
            .checks(of: findings, keys: keys).filter { $0.result == .error || $0.result == .warning }
    }

    private static func isMissing(_ failure: Failure?) -> Bool {
        !["unsupportedContainer", "malformedMedia", "wholeSegmentUnderSampleAES"].contains(failure?.code)
    }

    /// A block for people.
    var text: [String] {
        let count = segments + leftOut
        return [
            "Media\n"
                + (notLookedAt.map { "Not looked at: \($0.visible)" }
                    ?? "\(leftOut == 0 ? "" : "\(segments) of ")\(count.counted("segment")) looked at, without keys")
        ]
    }
}
