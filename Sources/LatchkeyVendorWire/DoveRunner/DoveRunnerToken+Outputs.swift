import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms

/// Rules by track.
///
/// Source: the vendor's License Token Guide, version 2, `security_policy` and `allowed_track_types`, at
/// https://github.com/daniel-inka/pallycon-docs-v3, 184b3b7, read on 2026-11-23.
extension DoveRunnerToken {
    /// The allowed outputs, by the class of the key; empty if the token does not say. If entries overlap, the strictest counts.
    /// - Throws: `tokenMalformed` for a policy of another form and for rules that are not known.
    package func outputs() throws(LicenseRefusal) -> [TrackClass: VendorOutput] {
        guard let security = wholePolicy?["security_policy"] else { return [:] }
        var outputs: [TrackClass: VendorOutput] = [:]
        for (value, place) in try RuleObject.entries(security, at: "security_policy") {
            let entry = try RuleObject(
                value, at: place, known: ["track_type", "fairplay", "widevine", "playready", "ncg", "wiseplay"])
            let classes = try entry.word("track_type", Self.trackTypes) ?? Self.everything
            guard let rules = value["fairplay"] else { continue }
            let output = try Self.output(rules, at: "\(place).fairplay")
            for track in classes { outputs[track] = output.joined(with: outputs[track] ?? VendorOutput()) }
        }
        return outputs
    }

    /// The classes of keys that are licensed; `nil` if the token does not say.
    /// - Throws: `tokenMalformed` for an unknown word.
    package func tracks() throws(LicenseRefusal) -> Set<TrackClass>? {
        guard let word = policy?["allowed_track_types"] else { return nil }
        guard let classes = Self.allowedTrackTypes.first(where: { $0.key == word.text })?.value else {
            let words = Self.allowedTrackTypes.map(\.key).joined(separator: ", ")
            throw .unknownRule("allowed_track_types", "is not one of \(words)")
        }
        return classes
    }

    private static func output(_ rules: JSONValue, at place: String) throws(LicenseRefusal) -> VendorOutput {
        let rules = try RuleObject(rules, at: place, known: ["hdcp_enforcement", "allow_airplay", "allow_av_adapter"])
        var output = VendorOutput()
        output.hdcp = try rules.value("hdcp_enforcement", "-1, 0 or 1") { value in
            switch value.number {
            case -1: .notRequired
            case 0: .type0
            case 1: .type1
            default: nil
            }
        }
        output.allowsAirPlay = try rules.flag("allow_airplay") ?? true
        output.allowsAdapter = try rules.flag("allow_av_adapter") ?? true
        return output
    }

    static let everything = Set(TrackClass.allCases)

    /// The classes of keys that a track type covers. A key for everything is covered by each of them.
    static let trackTypes: KeyValuePairs<String, Set<TrackClass>> = [
        "ALL": everything, "ALL_VIDEO": everything.subtracting([.audio]), "AUDIO": [.audio, .all],
        "SD": [.sd, .all], "HD": [.hd, .all], "UHD1": [.uhd1, .all], "UHD2": [.uhd2, .all],
    ]

    /// The classes of keys that a license may be for. A key for everything opens each of them, so it needs them all.
    private static let allowedTrackTypes: KeyValuePairs<String, Set<TrackClass>> = [
        "ALL": everything, "SD_ONLY": [.audio, .sd], "SD_HD": [.audio, .sd, .hd],
        "SD_UHD1": [.audio, .sd, .hd, .uhd1], "SD_UHD2": everything,
    ]
}
