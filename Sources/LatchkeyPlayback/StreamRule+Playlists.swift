import LatchkeyHLS

/// Rules about playlists. The rules of key tags and key URIs are in `Documentation/HLS.md`.
extension StreamRule {
    /// In the order of reporting.
    static let playlists: [StreamRule] = [
        StreamRule(
            code: "targetDurationMissing", severity: .error, requirement: "a media playlist has EXT-X-TARGETDURATION",
            source: "\(bis("4.4.3.1"))", player: "must fail to parse it",
            remedy: "Have the packager write the longest EXTINF, rounded, into EXT-X-TARGETDURATION.",
            check: .media { $0.timing.target == nil ? (nil, "EXT-X-TARGETDURATION is missing") : nil }),
        StreamRule(
            code: "segmentExceedsTarget", severity: .warning,
            requirement: "EXTINF, rounded, does not exceed EXT-X-TARGETDURATION", source: "\(bis("4.4.3.1"))",
            player: "−16832, stalls in live (superuser404notfound/AetherEngine#189)",
            remedy: "Raise EXT-X-TARGETDURATION to the longest EXTINF, rounded.",
            check: .media { facts in
                guard let target = facts.timing.target, let longest = facts.timing.longestSegment,
                    longest.duration.rounded() > target
                else { return nil }
                return (longest.line, "a segment of \(longest.duration) s exceeds EXT-X-TARGETDURATION \(target)")
            }),
        StreamRule(
            code: "partExceedsTarget", severity: .error, requirement: "a partial segment does not exceed PART-TARGET",
            source: "\(bis("4.4.3.7"))", player: "−12642 within a second (v0l/zap-stream-core#98)",
            remedy: "Have the packager write the longest part into PART-TARGET, or cut parts before it is reached.",
            check: .media { facts in
                guard let target = facts.timing.partTarget, let longest = facts.timing.longestPart,
                    longest.duration > target + leeway
                else { return nil }
                return (longest.line, "a part of \(longest.duration) s exceeds PART-TARGET \(target)")
            }),
        StreamRule(
            code: "partTargetMissing", severity: .error, requirement: "partial segments need EXT-X-PART-INF",
            source: "\(bis("4.4.3.7"))", player: "must fail to parse it",
            remedy: "Have the packager write EXT-X-PART-INF with PART-TARGET.",
            check: .media { facts in
                facts.timing.partTarget == nil
                    ? facts.timing.longestPart.map { ($0.line, "partial segments, and no PART-TARGET") } : nil
            }),
        StreamRule(
            code: "partHoldBack", severity: .error,
            requirement: "PART-HOLD-BACK is there if PART-TARGET is, and at least twice as long",
            source: "\(bis("4.4.3.8"))",
            player: "must fail to parse it; a change of it is −12642 (bluenviron/mediamtx#6237)",
            remedy: "Have the packager write three times PART-TARGET into PART-HOLD-BACK.",
            check: .media { facts in
                guard let target = facts.timing.partTarget else { return nil }
                guard let hold = facts.timing.partHoldBack else { return (nil, "PART-HOLD-BACK is missing") }
                return hold < 2 * target - leeway
                    ? (nil, "PART-HOLD-BACK \(hold) is less than twice PART-TARGET \(target)") : nil
            }),
        StreamRule(
            code: "holdBack", severity: .error, requirement: "HOLD-BACK is at least three target durations",
            source: "\(bis("4.4.3.8"))", player: "must fail to parse it",
            remedy: "Have the packager write three times EXT-X-TARGETDURATION into HOLD-BACK, or leave it out.",
            check: .media { facts in
                guard let target = facts.timing.target, let hold = facts.timing.holdBack, hold < 3 * target - leeway
                else { return nil }
                return (nil, "HOLD-BACK \(hold) is less than three times EXT-X-TARGETDURATION \(target)")
            }),
        StreamRule(
            code: "skipBoundary", severity: .error, requirement: "CAN-SKIP-UNTIL is at least six target durations",
            source: "\(bis("4.4.3.8"))", player: "must fail to parse it",
            remedy: "Have the packager write six times EXT-X-TARGETDURATION into CAN-SKIP-UNTIL, or leave it out.",
            check: .media { facts in
                guard let target = facts.timing.target, let skip = facts.timing.skipBoundary, skip < 6 * target - leeway
                else { return nil }
                return (nil, "CAN-SKIP-UNTIL \(skip) is less than six times EXT-X-TARGETDURATION \(target)")
            }),
        StreamRule(
            code: "discontinuitySequence", severity: .warning,
            requirement: "a sliding live playlist with EXT-X-DISCONTINUITY has EXT-X-DISCONTINUITY-SEQUENCE",
            source: "\(bis("4.4.3.3"))",
            player: "−12642 at a change of variants (jonathaneoliver/infinite-streaming#149)",
            remedy: "Have the packager count the discontinuities that left the playlist.",
            check: .media { facts in
                guard !facts.playlist.isComplete, facts.playlist.mediaSequence > 0,
                    !facts.timing.hasDiscontinuitySequence
                else { return nil }
                return facts.timing.discontinuity.map { ($0, "a discontinuity, and no EXT-X-DISCONTINUITY-SEQUENCE") }
            }),
        StreamRule(
            code: "encryptionChange", severity: .warning,
            requirement:
                "between clear and encrypted segments of other init sections, or without any, stands EXT-X-DISCONTINUITY",
            source: "\(bis("4.4.4.3"))", player: "sound may drop out",
            remedy: "Have the packager write EXT-X-DISCONTINUITY where encryption begins and where it ends.",
            check: .media { facts in
                guard facts.playlist.keyTags.contains(where: \.isFairPlay) else { return nil }
                let segments = (try? facts.playlist.segments()) ?? []
                let change = zip(segments, segments.dropFirst()).first { before, after in
                    before.keys.isEmpty != after.keys.isEmpty && !after.followsDiscontinuity
                        && (after.map == nil || before.map != after.map)
                }
                return change.map { _, after in
                    (after.line, "encryption \(after.keys.isEmpty ? "ends" : "begins") without EXT-X-DISCONTINUITY")
                }
            }),
        StreamRule(
            code: "bandwidthMissing", severity: .error, requirement: "EXT-X-STREAM-INF has BANDWIDTH",
            source: "\(bis("4.4.6.2"))", player: "must fail to parse it",
            remedy: "Have the packager write BANDWIDTH.",
            check: .playlist { facts in
                facts.playlist.streams.first { $0.kind == .variant && $0.bandwidth == nil }
                    .map { ($0.line, "EXT-X-STREAM-INF has no BANDWIDTH") }
            }),
        StreamRule(
            code: "groupMissing", severity: .error, requirement: "a group that a variant names has a rendition",
            source: "\(bis("4.4.6.2"))", player: "must fail to parse it",
            remedy: "Write EXT-X-MEDIA with the GROUP-ID that EXT-X-STREAM-INF names.",
            check: .playlist { facts in
                let streams = facts.playlist.streams
                return streams.lazy.compactMap { stream in
                    stream.groups.sorted { $0.key < $1.key }.first { type, id in
                        !streams.contains { $0.kind == .rendition(type: type) && $0.groupID == id }
                    }.map { (stream.line, "no EXT-X-MEDIA has the group that \($0.key) names") }
                }.first
            }),
    ]

    /// The tolerance for a sum of rounded durations, in seconds.
    private static let leeway = 0.000_001
}

extension StreamRule.Check {
    /// Checks each media playlist.
    fileprivate static func media(_ broken: @escaping @Sendable (PlaylistFacts) -> (line: Int?, what: String)?) -> Self
    {
        .playlist { $0.playlist.kind == .media ? broken($0) : nil }
    }
}
