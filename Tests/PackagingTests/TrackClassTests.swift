import LatchkeyCore
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyVault

@Suite struct TrackClassTests {
    private func rule(_ name: String, pixels: [EncryptionContract.Bounds] = [], channels: Int = 0)
        -> EncryptionContract.Rule
    {
        let video = pixels.map {
            EncryptionContract.VideoFilter(
                pixels: $0, framesPerSecond: EncryptionContract.Bounds(least: nil, most: nil), isHDR: nil)
        }
        let audio = (0..<channels).map { _ in
            EncryptionContract.AudioFilter(channels: EncryptionContract.Bounds(least: nil, most: nil))
        }
        return EncryptionContract.Rule(kid: .none, trackType: name, video: video, audio: audio, periods: [])
    }

    private static func bounds(_ least: Int?, _ most: Int?) -> EncryptionContract.Bounds {
        EncryptionContract.Bounds(least: least, most: most)
    }

    @Test(arguments: [
        ("SD", TrackClass.sd), ("HD", .hd), ("HD1", .hd), ("HD2", .hd), ("UHD1", .uhd1), ("UHD2", .uhd2), ("hd", .hd),
        ("AUDIO", .audio), ("STEREO_AUDIO", .audio), ("MULTICHANNEL_AUDIO_3_6", .audio),
        ("MULTICHANNEL_AUDIO_7", .audio),
        ("ALL", .all), ("SD+HD1", .hd), ("HD+AUDIO", .all), ("", .all), ("whatever", .all),
    ])
    func `a preset's name has its class`(_ name: String, _ expected: TrackClass) {
        #expect(TrackClass([rule(name)]) == expected)
    }

    @Test(arguments: [
        (bounds(nil, 589_824), TrackClass.sd), (bounds(nil, 589_825), .hd), (bounds(589_825, 2_073_600), .hd),
        (bounds(nil, 2_073_601), .uhd1), (bounds(nil, 8_847_360), .uhd1), (bounds(nil, 8_847_361), .uhd2),
        (bounds(2_073_601, nil), .uhd2), (bounds(nil, nil), .uhd2),
    ])
    func `an unknown name has the class of its largest picture`(
        _ pixels: EncryptionContract.Bounds, _ expected: TrackClass
    ) {
        #expect(TrackClass([rule("VIDEO", pixels: [pixels])]) == expected)
        #expect(TrackClass([rule("UHD", pixels: [Self.bounds(nil, 1), pixels])]) == expected)
        #expect(TrackClass([rule("x", pixels: [pixels], channels: 1)]) == .all)
    }

    @Test func `several rules of one key together have their highest class`() {
        #expect(TrackClass([rule("SD"), rule("UHD1"), rule("HD")]) == .uhd1)
        #expect(TrackClass([rule("SD"), rule("AUDIO")]) == .all)
        #expect(TrackClass([rule("x", channels: 1), rule("AUDIO")]) == .audio)
        #expect(TrackClass([]) == .all)
    }
}
