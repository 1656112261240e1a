import LatchkeyCore
package import LatchkeyDecision

/// The class of the tracks that a key encrypts, for policies.
///
/// Source: `Documentation/LicenseServer.md` §2.3.
extension TrackClass {
    /// The most pixels of a picture in standard definition: 1024 by 576.
    package static let largestSD = 589_824
    /// The most pixels in high definition: 1920 by 1080.
    package static let largestHD = 2_073_600
    /// The most pixels in the smaller ultra high definition: 4096 by 2160.
    package static let largestUHD1 = 8_847_360

    /// The class of one key's rules: the greatest of its pictures, or `all` if it encrypts sound as well, or if nothing is known.
    package init(_ rules: [EncryptionContract.Rule]) {
        let classes = Set(rules.flatMap { TrackClass.classes(of: $0) })
        let pictures = TrackClass.pictures.filter(classes.contains)
        switch (classes.contains(.all), classes.contains(.audio), pictures.last) {
        case (false, true, nil): self = .audio
        case (false, false, let greatest?): self = greatest
        default: self = .all
        }
    }

    /// Pictures, the smallest first.
    private static let pictures: [TrackClass] = [.sd, .hd, .uhd1, .uhd2]

    /// The classes of a rule's names; those of its filters if a name is unknown.
    private static func classes(of rule: EncryptionContract.Rule) -> [TrackClass] {
        let named = rule.parts.map { TrackClass(name: $0) }
        let known = named.compactMap(\.self)
        guard known.count < named.count else { return known }
        let filtered = rule.video.map { TrackClass(pixels: $0.pixels) } + rule.audio.map { _ in TrackClass.audio }
        return filtered.isEmpty ? [.all] : filtered
    }

    /// The class of a name of AWS's presets or of Shaka Packager; `nil` for others, such as `VIDEO` and `UHD`.
    private init?(name: Substring) {
        switch name.uppercased() {
        case "ALL": self = .all
        case "SD": self = .sd
        case "HD", "HD1", "HD2": self = .hd
        case "UHD1": self = .uhd1
        case "UHD2": self = .uhd2
        case let name where ["AUDIO", "STEREO_AUDIO"].contains(name) || name.hasPrefix("MULTICHANNEL_AUDIO"):
            self = .audio
        default: return nil
        }
    }

    /// The class of the largest picture in a range; without an upper end it is the largest of all.
    private init(pixels: EncryptionContract.Bounds) {
        switch pixels.most ?? .max {
        case ...Self.largestSD: self = .sd
        case ...Self.largestHD: self = .hd
        case ...Self.largestUHD1: self = .uhd1
        default: self = .uhd2
        }
    }
}
