import LatchkeyCore
import LatchkeyVault

extension EncryptionContract {
    /// Reads a `ContentKeyUsageRuleList`.
    /// - Parameters:
    ///   - list: the element, or `nil`.
    ///   - kids: the keys of the document.
    ///   - periods: the identifiers of the document's periods.
    /// - Throws: `contractMissing`; `contractMalformed` for one that contradicts itself or the document.
    init(_ list: XMLTree.Element?, kids: Set<KeyID>, periods: Set<String>) throws(PackagingRefusal) {
        let elements = list?.elements("ContentKeyUsageRule", in: .cpix) ?? []
        let hasFilters = elements.contains { rule in
            rule.first("VideoFilter", in: .cpix) != nil || rule.first("AudioFilter", in: .cpix) != nil
        }
        guard hasFilters else { throw .contractMissing }
        var rules: [Rule] = []
        for element in elements {
            guard let rule = Rule(element, needsFilters: true), kids.contains(rule.kid),
                rule.periods.isSubset(of: periods)
            else {
                throw .contractMalformed
            }
            rules.append(rule)
        }
        self.init(rules: rules)
        guard isConsistent else { throw .contractMalformed }
    }
}

extension EncryptionContract.Rule {
    /// Reads a `ContentKeyUsageRule`.
    /// - Parameter needsFilters: whether a name and a filter are required, as in SPEKE.
    init?(_ element: XMLTree.Element, needsFilters: Bool) {
        let trackType = element["intendedTrackType"] ?? ""
        guard let kid = element["kid"].flatMap({ KeyID(uuid: $0) }), trackType.utf8.count <= 256 else { return nil }
        let video = element.elements("VideoFilter", in: .cpix)
        let audio = element.elements("AudioFilter", in: .cpix)
        let periods = element.elements("KeyPeriodFilter", in: .cpix).compactMap { $0["periodId"] }
        let videoFilters = video.compactMap { EncryptionContract.VideoFilter($0) }
        let audioFilters = audio.compactMap { EncryptionContract.AudioFilter($0) }
        guard videoFilters.count == video.count, audioFilters.count == audio.count,
            periods.count == element.elements("KeyPeriodFilter", in: .cpix).count
        else { return nil }
        self.init(
            kid: kid, trackType: trackType, video: videoFilters, audio: audioFilters, periods: Set(periods))
        guard needsFilters else { return }
        guard video.count + audio.count > 0, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    }
}

extension EncryptionContract.VideoFilter {
    fileprivate init?(_ element: XMLTree.Element) {
        guard let pixels = EncryptionContract.Bounds(element["minPixels"], element["maxPixels"]),
            let frames = EncryptionContract.Bounds(element["minFps"], element["maxFps"])
        else { return nil }
        switch element["hdr"] {
        case nil: self.init(pixels: pixels, framesPerSecond: frames, isHDR: nil)
        case "true", "1": self.init(pixels: pixels, framesPerSecond: frames, isHDR: true)
        case "false", "0": self.init(pixels: pixels, framesPerSecond: frames, isHDR: false)
        default: return nil
        }
    }
}

extension EncryptionContract.AudioFilter {
    fileprivate init?(_ element: XMLTree.Element) {
        guard let channels = EncryptionContract.Bounds(element["minChannels"], element["maxChannels"]) else {
            return nil
        }
        self.init(channels: channels)
    }
}

extension EncryptionContract.Bounds {
    fileprivate init?(_ least: String?, _ most: String?) {
        let (low, high) = (least.map(Self.number), most.map(Self.number))
        guard low != .some(nil), high != .some(nil) else { return nil }
        self.init(least: low ?? nil, most: high ?? nil)
        if let least = self.least, let most = self.most, least > most { return nil }
    }

    private static func number(_ text: String) -> Int? {
        guard let value = UInt32(text) else { return nil }
        return Int(value)
    }
}

extension KeyID {
    /// - Parameter uuid: a UUID with dashes, in any case; other spellings give `nil`.
    init?(uuid: String) {
        guard let id = KeyID(uuid), id.description.equalsByteForByte(uuid.lowercased()) else { return nil }
        self = id
    }
}
