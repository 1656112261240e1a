import Foundation
import LatchkeyCore
import LatchkeyPlayback
import LatchkeyTerminal

/// The combined verdict of the tried segments, key by key.
struct SampleVerdicts {
    /// A key's URI without its secrets.
    let shown: (KeyURI) -> String
    /// The content keys that the device got.
    let keys: [KeyURI: ContentKey]

    typealias Finding = SampleTrial.Finding

    /// - Parameter order: the keys in the order of the stream.
    func checks(of findings: [Finding], keys order: [KeyURI]) -> [Checkup] {
        order.flatMap { key in
            let own = findings.filter { $0.place.key == key }
            return own.isEmpty ? [] : checks(of: key, own)
        } + clear(findings.filter { $0.place.key == nil }, isWholeStream: order.isEmpty)
    }

    // MARK: One key

    private func checks(of key: KeyURI, _ findings: [Finding]) -> [Checkup] {
        let name = shown(key)
        var checks = unreadable(name, findings)
        if let first = findings.first(where: { $0.isUnencrypted }) { checks.append(Self.notEncrypted(name, first)) }
        let encrypted = findings.filter { $0.sample != nil && !$0.isUnencrypted }
        let judged = containers(key, encrypted)
        if let several = severalKeys(name, encrypted) {
            // If there are two IVs, one is not the license's.
            if several.result == .error { return checks + judged.filter { $0.code != "wrongIV" } + [several] }
            checks.append(several)
        }
        checks += judged
        let opensSome = encrypted.contains { $0.verdict == .right }
        if !opensSome, !judged.hasError("wrongScheme", "wrongIV"), let wrong = wrongKey(name, encrypted) {
            return checks + [wrong]
        }
        if checks.contains(where: { $0.result == .error }) { return checks }
        return checks + sound(name, encrypted)
    }

    /// The rules of Apple's players that the segments break, each once.
    private func containers(_ key: KeyURI, _ findings: [Finding]) -> [Checkup] {
        var told: Set<StreamRule> = []
        return findings.flatMap { finding in
            (finding.sample?.findings(with: keys[key]) ?? []).filter { told.insert($0.rule).inserted }
                .map { Checkup(.media, $0, about: shown(key), at: finding.place.shown) }
        }
    }

    private func unreadable(_ name: String, _ findings: [Finding]) -> [Checkup] {
        let failed = findings.filter { $0.failure != nil }
        guard let first = failed.first, let failure = first.failure else { return [] }
        let code = StreamRule.all.contains { $0.code == failure.code } ? failure.code : "segmentUnreadable"
        let more = failed.count == 1 ? "" : " The same is true of \(failed.count) of \(findings.count) segments."
        return [
            .error(
                .media, code,
                "\(name): a segment cannot be tried (\(first.place.shown)). \(failure.reason)\(more)", failure.remedy)
        ]
    }

    private static func notEncrypted(_ name: String, _ finding: Finding) -> Checkup {
        .error(
            .media, "notEncrypted",
            "\(name): a segment is in clear though the key tag is in force (\(finding.place.shown)).",
            "Write EXT-X-KEY:METHOD=NONE before clear segments such as advertisements, or package the stream again.")
    }

    /// Several keys under one key URI: FairPlay delivers one for each.
    private func severalKeys(_ name: String, _ findings: [Finding]) -> Checkup? {
        let ids = Self.renditions(findings, by: \.keyID)
        let ivs = Self.renditions(findings, by: { $0.constantIV.flatMap { $0.contains { $0 != 0 } ? $0 : nil } })
        let right = findings.filter { $0.verdict == .right }
        let wrong = findings.filter { if case .wrong = $0.verdict { true } else { false } }
        let remedy =
            "Give each key its own key URI; Shaka Packager's --hls_key_uri writes one URI for all keys."
        if ids.count > 1 || ivs.count > 1 {
            let what = ids.count > 1 ? "key IDs" : "IVs"
            let groups = (ids.count > 1 ? ids : ivs).prefix(4).map { $0.joined(separator: ", ") }
            let reason =
                "\(name): the media under this one key URI has \(max(ids.count, ivs.count)) \(what) (\(groups.joined(separator: " ≠ ")))."
            guard ivs.count <= 1, wrong.isEmpty, !right.isEmpty else {
                return .error(.media, "oneURITwoKeys", reason, remedy)
            }
            return .warning(
                .media, "oneURITwoKeyIDs", "\(reason) One key opens all samples that were tried.",
                "Check that all of them are meant to have the same key.")
        }
        guard let works = right.first, let fails = wrong.first else { return nil }
        let reason = "\(name): the license's key opens \(works.place.shown), and not \(fails.place.shown)."
        // With the same key ID and IV, only damage is left as the cause; a transport stream states neither.
        guard ids.isEmpty else {
            return .warning(
                .media, "segmentDamaged", "\(reason) Both state the same key.",
                "Play the second alone: it is damaged, or does not begin with a key frame.")
        }
        return .error(
            .media, "oneURITwoKeys", "\(reason) Two keys have one key URI, or the second is damaged.", remedy)
    }

    /// The names of the playlists of each value, in order.
    private static func renditions(_ findings: [Finding], by value: (TrackProtection) -> Data?) -> [[String]] {
        var order: [Data] = []
        var names: [Data: [String]] = [:]
        for finding in findings {
            for found in (finding.sample?.protections ?? []).compactMap(value) {
                if names[found] == nil { order.append(found) }
                let name = finding.place.playlist.shownName
                if names[found]?.contains(name) != true { names[found, default: []].append(name) }
            }
        }
        return order.map { Array((names[$0] ?? []).prefix(4)) }
    }

    private func wrongKey(_ name: String, _ findings: [Finding]) -> Checkup? {
        for finding in findings {
            guard case .wrong(let complaint)? = finding.verdict else { continue }
            let said = complaint.map { " ffmpeg: \($0.prefix(160))" } ?? ""
            // The container's IV is the license's, so only the key can be wrong. A transport stream states none.
            let isKey = finding.sample?.protections.contains { $0.constantIV != nil } == true
            return .error(
                .media, isKey ? "wrongKey" : "wrongKeyOrIV",
                "\(name): a license came, and its \(isKey ? "content key" : "content key or IV") does not open the media (\(finding.place.shown)).\(said)",
                "Compare the key\(isKey ? "" : " and the IV") of packager and license service for this content id.")
        }
        return nil
    }

    private func sound(_ name: String, _ findings: [Finding]) -> [Checkup] {
        let codecs = findings.compactMap { if case .undecidable(let codec)? = $0.verdict { codec } else { nil } }
        let right = findings.count { $0.verdict == .right }
        let pictures = findings.filter { $0.sample?.isPicture == true }
        let boxes =
            pictures.isEmpty
            ? "" : "; of \(pictures.count.counted("segment")) of I-frame playlists the container alone was looked at"
        var checks: [Checkup] = []
        if right > 0 {
            checks.append(.ok(.media, "\(name): \(right.counted("segment")) decrypted and decoded\(boxes)"))
        }
        if let codec = codecs.first {
            checks.append(
                .skipped(.media, "\(name): this machine has no decoder for \(quoted(codec)), so the key was not tried"))
        }
        return checks
    }

    // MARK: No key

    /// Segments without a key: a clear stream, or clear parts of another.
    private func clear(_ findings: [Finding], isWholeStream: Bool) -> [Checkup] {
        guard !findings.isEmpty else { return [] }
        var checks = unreadable("No key", findings)
        if let first = findings.first(where: { $0.sample?.isEncrypted == true }) {
            checks.append(
                .error(
                    .media, "encryptedWithoutKey",
                    "A segment is encrypted, and no key tag is in force (\(first.place.shown)).",
                    "Have the packager write EXT-X-KEY before it; METHOD=NONE ends the keys of all systems."))
        }
        let wrong = findings.lazy.compactMap { finding -> Checkup? in
            guard case .wrong(let complaint)? = finding.verdict else { return nil }
            let said = complaint.map { " ffmpeg: \($0.prefix(160))" } ?? ""
            let check = Checkup.error(
                .media, "clearMediaDamaged",
                "A segment without a key does not decode (\(finding.place.shown)).\(said)",
                "Play it alone: it is damaged, or encrypted without a key tag.")
            // A part that its container declares clear comes from elsewhere, such as an advertiser.
            return !isWholeStream && finding.sample?.isEncrypted == false ? check.asWarning : check
        }.first
        checks += [wrong].compactMap(\.self)
        guard checks.isEmpty else { return checks }
        let right = findings.count { $0.verdict == .right }
        if right > 0 { checks.append(.ok(.media, "\(right.counted("segment")) without a key decoded in clear")) }
        if case .undecidable(let codec)? = findings.lazy.compactMap(\.verdict).first(where: { $0 != .right }) {
            checks.append(
                .skipped(.media, "This machine has no decoder for \(quoted(codec)), so a part in clear was not tried"))
        }
        return checks
    }
}

extension SampleTrial.Finding {
    /// Whether a key is in force, but the media is clear.
    fileprivate var isUnencrypted: Bool {
        place.key != nil && (isClear || verdict == nil && sample?.isEncrypted == false)
    }
}
