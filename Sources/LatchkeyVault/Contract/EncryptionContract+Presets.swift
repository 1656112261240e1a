package import LatchkeyCore
import LatchkeyDecision

/// The filters behind the names of AWS's presets and Shaka Packager, for contracts of stored keys, of which only the names are kept.
///
/// Source: `Documentation/LicenseServer.md` §2.3.
extension EncryptionContract {
    /// A contract of names, each with its filters; other names have none.
    /// - Parameter named: each key's name for its tracks and its periods.
    package init(named: [(kid: KeyID, trackType: String, periods: Set<String>)]) {
        let hasUHD = named.contains { $0.trackType.uppercased().contains("UHD") }
        rules = named.map { kid, trackType, periods in
            let parts = trackType.split(separator: "+").map { $0.uppercased() }
            return Rule(
                kid: kid, trackType: trackType,
                video: parts.compactMap { VideoFilter(named: $0, besideUHD: hasUHD) },
                audio: parts.compactMap { AudioFilter(named: $0) }, periods: periods)
        }
    }
}

extension EncryptionContract.VideoFilter {
    /// The most pixels of `HD1`: 1280 by 720.
    private static let largestHD1 = 921_600

    /// - Parameter hasUHD: whether larger pictures have their own keys, so that HD has an upper end.
    fileprivate init?(named name: String, besideUHD hasUHD: Bool) {
        let (sd, hd, uhd1) = (TrackClass.largestSD, TrackClass.largestHD, TrackClass.largestUHD1)
        let pixels: (Int?, Int?)
        switch name {
        case "ALL", "VIDEO": pixels = (nil, nil)
        case "SD": pixels = (nil, sd)
        case "HD": pixels = (sd + 1, hasUHD ? hd : nil)
        case "HD1": pixels = (sd + 1, Self.largestHD1)
        case "HD2": pixels = (Self.largestHD1 + 1, hasUHD ? hd : nil)
        case "UHD": pixels = (hd + 1, nil)
        case "UHD1": pixels = (hd + 1, uhd1)
        case "UHD2": pixels = (uhd1 + 1, nil)
        default: return nil
        }
        self.init(
            pixels: .init(least: pixels.0, most: pixels.1), framesPerSecond: .init(least: nil, most: nil), isHDR: nil)
    }
}

extension EncryptionContract.AudioFilter {
    fileprivate init?(named name: String) {
        switch name {
        case "ALL", "AUDIO": self.init(channels: .init(least: nil, most: nil))
        case "STEREO_AUDIO": self.init(channels: .init(least: nil, most: 2))
        case "MULTICHANNEL_AUDIO": self.init(channels: .init(least: 3, most: nil))
        case "MULTICHANNEL_AUDIO_3_6": self.init(channels: .init(least: 3, most: 6))
        case "MULTICHANNEL_AUDIO_7": self.init(channels: .init(least: 7, most: nil))
        default: return nil
        }
    }
}
