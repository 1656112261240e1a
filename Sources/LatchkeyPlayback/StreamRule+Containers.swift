import Foundation

/// Rules about segments and init sections.
extension StreamRule {
    /// In the order of reporting.
    static let containers: [StreamRule] = fragmentedMP4 + samples + otherContainers

    // MARK: Sample entries and tenc

    private static let fragmentedMP4: [StreamRule] = [
        StreamRule(
            code: "mapMissing", severity: .error, requirement: "fMP4 has an init section, by EXT-X-MAP",
            source: "\(bis("3.1.2"))", player: "opens nothing: no track is known",
            remedy: "Have the packager write EXT-X-MAP before the segments.",
            check: .segment { $0.lacksInitialization ? "no EXT-X-MAP is in force for a segment of fMP4" : nil }),
        StreamRule(
            code: "notEncrypted", severity: .error,
            requirement: "samples under a key are encrypted, and the container says so",
            source: "\(bis("4.4.4.4"))", player: "takes samples as the container states them: in clear",
            remedy: "Write EXT-X-KEY:METHOD=NONE before clear segments, or have the packager state the encryption.",
            check: .segment { facts in
                guard facts.isEncrypted == false else { return nil }
                let types =
                    facts.program?.streams.map { "0x" + String($0.type, radix: 16) } ?? facts.tracks.map(\.entry)
                return "the container says that samples are in clear: \(types.joined(separator: ", "))"
            }),
        StreamRule(
            code: "wrongScheme", severity: .error, requirement: "`schm` of fMP4 is `cbcs`",
            source: "\(authoring) and \(bis("4.4.4.4"))", player: "decrypts nothing",
            remedy: "Have the packager encrypt with cbcs.",
            check: .track { track in
                guard let scheme = track.scheme, scheme != "cbcs" else { return nil }
                return scheme.isEmpty
                    ? "the sample entry \(track.entry) names no scheme; FairPlay opens cbcs"
                    : "the media is encrypted with \"\(scheme)\"; FairPlay opens cbcs"
            }),
        StreamRule(
            code: "originalFormat", severity: .error,
            requirement: "`frma` in `encv` and `enca` names a codec of picture or sound",
            source: "\(iso) §8.12.2", player: "cannot choose a decoder",
            remedy: "Package again, with frma in each sample entry.",
            check: .track { track in
                guard let format = track.originalFormat else { return "\(track.entry) has no frma" }
                let isSound = soundFormats.contains(format.lowercased())
                return isSound == (track.entry == "enca") ? nil : "\(track.entry) has frma \"\(format)\""
            }),
        StreamRule(
            code: "parameterSetsInSamples", severity: .warning,
            requirement: "parameter sets are in the sample entry: `avc1`, `hvc1`, `dvh1`",
            source: "\(authoring) 1.10", player: "WebKit refuses `hev1` (movieclaw/movieclaw#430)",
            remedy: "Package as hvc1 in place of hev1, and avc1 in place of avc3.",
            check: .track { track in
                guard let format = track.originalFormat, ["avc3", "hev1", "dvhe", "dvav"].contains(format) else {
                    return nil
                }
                return "the sample entry is \(format)"
            }),
        StreamRule(
            code: "trackEncryptionMissing", severity: .error, requirement: "an encrypted sample entry has `tenc`",
            source: "\(cenc) §8.2", player: "knows neither key ID nor IV",
            remedy: "Package again, with tenc in each encv and enca.",
            check: .track { $0.version == nil ? "\($0.entry) has no tenc" : nil }),
        StreamRule(
            code: "trackEncryptionVersion", severity: .error, requirement: "`tenc` under `cbcs` has version 1",
            source: "\(cenc) §8.2, \(issue("shaka-project/shaka-packager", 326))",
            player: "Safari does not play sound, or crashes (gpac/gpac#1053)",
            remedy: "Use a packager that writes tenc of version 1: pattern and constant IV belong to it.",
            check: .cbcs { track in
                track.version.flatMap { $0 == 1 ? nil : "tenc has version \($0); FairPlay needs 1" }
            }),
        StreamRule(
            code: "videoPattern", severity: .error, requirement: "picture has the pattern 1:9: 10 % of it is encrypted",
            source: "\(issue("WICG/encrypted-media-encryption-scheme", 7)), \(cenc) §10.4",
            player: "according to Apple, FairPlay on Apple devices supports only 10 %",
            remedy: "Have the packager encrypt 1 block and skip 9.",
            check: .cbcs { track in
                guard track.entry == "encv", track.version != 0, let pattern = track.pattern,
                    pattern != .init(encrypted: 1, clear: 9)
                else { return nil }
                return "picture has the pattern \(pattern.encrypted):\(pattern.clear); FairPlay opens 1:9"
            }),
        StreamRule(
            code: "audioPattern", severity: .error, requirement: "sound has no pattern: all whole blocks are encrypted",
            source: "\(issue("WICG/encrypted-media-encryption-scheme", 7)), \(cenc) §10.4",
            player: "according to Apple, FairPlay on Apple devices supports only 100 %",
            remedy: "Have the packager encrypt sound without a pattern.",
            check: .cbcs { track in
                guard track.entry == "enca", let pattern = track.pattern, pattern.clear != 0 else { return nil }
                return
                    "sound has the pattern \(pattern.encrypted):\(pattern.clear); FairPlay opens sound without a pattern"
            }),
        StreamRule(
            code: "sampleIV", severity: .error, requirement: "`tenc` and `seig` state one IV for all samples",
            source: "\(cenc) §10.4.1", player: "takes the license's IV for each sample; other behavior is unknown",
            remedy: "Have the packager write a constant IV of 16 bytes.",
            check: .cbcs {
                $0.sampleIVSize == 0 ? nil : "each sample has its own IV, of \($0.sampleIVSize) bytes"
            }),
        StreamRule(
            code: "constantIV", severity: .error, requirement: "the constant IV has 16 bytes, as the license's",
            source: "\(cenc) §9.1 and §10.4.1", player: "not known; a license holds 16 bytes",
            remedy: "Have the packager write a constant IV of 16 bytes.",
            check: .cbcs { track in
                guard track.sampleIVSize == 0, track.pattern != nil, track.constantIV?.count != 16 else { return nil }
                return track.constantIV.map { "the constant IV has \($0.count) bytes, and a license's has 16" }
                    ?? "no IV is stated"
            }),
        StreamRule(
            code: "zeroIV", severity: .warning, requirement: "the constant IV is not all zeros",
            source: "\(issue("gpac/gpac", 1149))",
            player: "takes the license's IV, which is another one in most services",
            remedy: "Give the packager the IV that the license service has for this key.",
            check: .segment { facts in
                let isZero = facts.tracks.contains { $0.constantIV.map { $0.allSatisfy { $0 == 0 } } ?? false }
                return isZero && facts.licensedIV == nil
                    ? "the media has an IV of zeros, to which packagers fall back" : nil
            }),
        StreamRule(
            code: "wrongIV", severity: .error, requirement: "the constant IV is the license's",
            source: "`Documentation/FairPlay.md` §8", player: "the first block of each protected range is wrong",
            remedy: "Give the packager's IV to the license service, or package the stream with the service's.",
            check: .segment { facts in
                guard let licensed = facts.licensedIV else { return nil }
                let wrong = facts.tracks.compactMap(\.constantIV).first { $0 + Data(count: 16 - $0.count) != licensed }
                return wrong.map {
                    "the license has another IV than the media\($0.allSatisfy { $0 == 0 } ? ", whose IV is zeros" : "")"
                }
            }),
    ]

    private static let soundFormats: Set = ["mp4a", "ac-3", "ec-3", "ac-4", "alac", "flac", "opus", "apac", "usac"]

    // MARK: Samples

    private static let samples: [StreamRule] = [
        StreamRule(
            code: "subsamplesMissing", severity: .error,
            requirement: "H.264 and HEVC have subsamples, whose headers are in clear", source: "\(cenc) §9.5 and §10.4",
            player: "finds no NAL units: the header of a slice is encrypted",
            remedy: "Have the packager encrypt by subsamples, and write senc with flag 2.",
            check: .fragment { fragment, track in
                guard track.hasNALUnits, fragment.subsamples == nil, !fragment.sampleSizes.isEmpty else { return nil }
                return "picture has no subsamples: senc is missing, or has no flag 2"
            }),
        StreamRule(
            code: "auxiliaryCount", severity: .error, requirement: "`senc` and `saiz` count the samples of `trun`",
            source: "\(cenc) §7.2, \(iso) §8.7.8", player: "not known",
            remedy: "Package again: a segment was cut or joined without its senc.",
            check: .fragment { fragment, _ in
                let count = fragment.sampleSizes.count
                for (name, other) in [("senc", fragment.encryptedSamples), ("saiz", fragment.sizedSamples)] {
                    if let other, other != count { return "\(name) counts \(other) samples, and trun \(count)" }
                }
                return nil
            }),
        StreamRule(
            code: "subsampleSizes", severity: .error, requirement: "the subsamples of a sample make up its size",
            source: "\(cenc) §9.5.1", player: "not known; decrypts the wrong bytes",
            remedy: "Package again: samples were changed after they were encrypted.",
            check: .fragment { fragment, _ in
                for (index, (size, parts)) in zip(fragment.sampleSizes, fragment.subsamples ?? []).enumerated() {
                    let sum = parts.reduce(0) { $0 + $1.clear + $1.protected }
                    if sum != size, !parts.isEmpty {
                        return "sample \(index + 1) has \(size) bytes, and its subsamples \(sum)"
                    }
                }
                return nil
            }),
        StreamRule(
            code: "auxiliaryOffset", severity: .error, requirement: "`saio` leads to the entries of `senc`",
            source: "\(iso) §8.7.9, \(cenc) §7.2", player: "not known; reads subsamples where there are none",
            remedy: "Package again: boxes were added before senc, and saio was not updated.",
            check: .fragment { fragment, _ in
                fragment.leadsToEntries == false ? "saio does not lead to the entries of senc" : nil
            }),
        StreamRule(
            code: "sampleGroupIndex", severity: .error,
            requirement: "`sbgp` of `seig` refers to existing groups: a fragment's groups begin at 0x10001",
            source: "\(iso) §8.9.4", player: "not known; no key is found",
            remedy: "Use a packager that counts groups of a fragment from 0x10001.",
            check: .fragment { fragment, track in
                fragment.groupIndexes.first {
                    $0 > 0x10000 ? $0 - 0x10000 > fragment.groups : $0 > track.sharedGroups
                }.map { "sbgp refers to group 0x\(String($0, radix: 16)), which is not there" }
            }),
        StreamRule(
            code: "samplesInClear", severity: .warning,
            requirement: "samples of an encrypted track have bytes that are protected",
            source: "\(bis("4.4.4.4"))", player: "plays, also without a key",
            remedy: "Check the packager's settings; a clear lead comes before EXT-X-KEY.",
            check: .fragment { fragment, _ in
                guard let samples = fragment.subsamples, samples.contains(where: { !$0.isEmpty }) else { return nil }
                return samples.joined().contains { $0.protected > 0 } ? nil : "no byte of its samples is encrypted"
            }),
    ]

    // MARK: Transport streams, packed audio, whole segments

    private static let otherContainers: [StreamRule] = [
        StreamRule(
            code: "hevcInTransportStream", severity: .error, requirement: "HEVC comes in fMP4",
            source: "\(authoring) 1.5",
            player: "shows no picture", remedy: "Package HEVC as fMP4.",
            check: .stream { $0.type == TransportProgram.hevc ? "HEVC in a transport stream, of the type 0x24" : nil }),
        StreamRule(
            code: "programMapPackets", severity: .error, requirement: "the program map fits into one packet",
            source: sampleAES,
            player: "not known", remedy: "Have the packager write fewer descriptors.",
            check: .segment { $0.program?.isInOnePacket == false ? "the program map does not end in its packet" : nil }),
        StreamRule(
            code: "privateDataIndicator", severity: .error,
            requirement:
                "encrypted streams of a transport stream have a private data indicator: `zavc`, `aacd`, `ac3d`, `ec3d`",
            source: sampleAES, player: "not known",
            remedy: "Have the packager write the descriptor 0x0f for each stream of encrypted samples.",
            check: .stream { stream in
                guard let type = stream.encrypted, !stream.has(0x0f, type.indicator) else { return nil }
                return
                    "the stream of type 0x\(String(stream.type, radix: 16)) has no private data indicator \(type.indicator)"
            }),
        StreamRule(
            code: "audioSetup", severity: .error,
            requirement:
                "encrypted sound of a transport stream has its setup information, in a registration descriptor `apad`",
            source: sampleAES, player: "not known; sound cannot be set up before it is decrypted",
            remedy: "Have the packager write the audio setup information into the program map.",
            check: .stream { stream in
                guard let type = stream.encrypted, type != .h264, !stream.has(0x05, "apad") else { return nil }
                return "the sound of type 0x\(String(stream.type, radix: 16)) has no setup information"
            }),
        StreamRule(
            code: "audioDescription", severity: .error,
            requirement:
                "encrypted packed audio begins with its setup information: the ID3 frame `com.apple.streaming.audioDescription`",
            source: sampleAES, player: "not known; sound cannot be set up before it is decrypted",
            remedy: "Have the packager write the audio setup information into the ID3 tag.",
            check: .segment { facts in
                facts.container == .packedAudio && !facts.hasTag("audioDescription")
                    ? "packed audio has no setup information in its ID3 tag" : nil
            }),
        StreamRule(
            code: "packedTimestamp", severity: .error,
            requirement:
                "packed audio begins with its time: the ID3 frame `com.apple.streaming.transportStreamTimestamp`",
            source: "\(bis("3.1.3"))", player: "a client should not play it",
            remedy: "Have the packager write the time of the first sample into an ID3 tag.",
            check: .segment { facts in
                facts.container == .packedAudio && !facts.hasTag("transportStreamTimestamp")
                    ? "packed audio has no time in its ID3 tag" : nil
            }),
        StreamRule(
            code: "wholeSegmentUnderSampleAES", severity: .error,
            requirement: "METHOD=SAMPLE-AES leaves the container in clear; whole segments have METHOD=AES-128",
            source: "\(bis("4.4.4.4"))", player: "finds no container",
            remedy: "Make the packager encrypt samples, as FairPlay requires.", check: .download),
    ]
}

extension TrackProtection {
    /// Whether its samples are NAL units: H.264, HEVC, and Dolby Vision of both.
    fileprivate var hasNALUnits: Bool {
        ["avc", "hvc", "hev", "dvh", "dva"].contains(originalFormat?.prefix(3) ?? "")
    }
}

extension StreamRule.Check {
    /// Checks each encrypted track.
    fileprivate static func track(_ broken: @escaping @Sendable (TrackProtection) -> String?) -> Self {
        .segment { $0.tracks.lazy.filter { $0.scheme != nil }.compactMap(broken).first }
    }

    /// Checks each track encrypted with cbcs.
    fileprivate static func cbcs(_ broken: @escaping @Sendable (TrackProtection) -> String?) -> Self {
        .track { $0.scheme == "cbcs" ? broken($0) : nil }
    }

    /// Checks each fragment of an encrypted track.
    fileprivate static func fragment(_ broken: @escaping @Sendable (TrackFragment, TrackProtection) -> String?) -> Self
    {
        .track { track in track.fragments.lazy.compactMap { broken($0, track) }.first }
    }

    /// Checks each stream of a transport stream's program.
    fileprivate static func stream(
        _ broken: @escaping @Sendable (TransportProgram.ElementaryStream) -> String?
    ) -> Self {
        .segment { ($0.program?.streams ?? []).lazy.compactMap(broken).first }
    }
}

extension StreamRule {
    /// A section of the HLS draft.
    static func bis(_ section: String) -> String {
        "[RFC 8216bis §\(section)](https://datatracker.ietf.org/doc/html/draft-pantos-hls-rfc8216bis#section-\(section))"
    }

    /// A public issue that reports the behavior.
    static func issue(_ repository: String, _ number: Int) -> String {
        "[\(repository)#\(number)](https://github.com/\(repository)/issues/\(number))"
    }

    private static let cenc = "[ISO/IEC 23001-7](https://www.iso.org/standard/84637.html)"
    private static let iso = "[ISO/IEC 14496-12](https://www.iso.org/standard/83102.html)"
    private static let authoring =
        "[HLS Authoring Specification](https://developer.apple.com/documentation/http-live-streaming/hls-authoring-specification-for-apple-devices)"
    private static let sampleAES =
        "[MPEG-2 Stream Encryption Format §3](https://developer.apple.com/library/archive/documentation/AudioVideo/Conceptual/HLS_Sample_Encryption/TransportStreamSignaling/TransportStreamSignaling.html)"
}
