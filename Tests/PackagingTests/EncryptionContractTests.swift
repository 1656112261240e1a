import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyPackaging
import LatchkeyVault
import Testing

@Suite(.timeLimit(.minutes(5))) struct EncryptionContractTests {
    /// AWS's presets: the track types with their filters.
    struct Preset: Sendable, CustomTestStringConvertible {
        let name: String
        let tracks: [(String, String)]
        var testDescription: String { name }
    }

    private static func video(_ least: Int?, _ most: Int?) -> String {
        let low = least.map { " minPixels=\"\($0)\"" } ?? ""
        let high = most.map { " maxPixels=\"\($0)\"" } ?? ""
        return "<cpix:VideoFilter\(low)\(high)/>"
    }

    private static let sd = ("SD", video(nil, 589_824))
    private static let hd = ("HD", video(589_825, 2_073_600))
    private static let hd1 = ("HD1", video(589_825, 921_600))
    private static let hd2 = ("HD2", video(921_601, 2_073_600))
    private static let sdAndHD1 = ("SD+HD1", video(nil, 921_600))
    private static let uhd = ("UHD", video(2_073_601, nil))
    private static let uhd1 = ("UHD1", video(2_073_601, 8_847_360))
    private static let uhd2 = ("UHD2", video(8_847_361, nil))
    private static let stereo = ("STEREO_AUDIO", #"<cpix:AudioFilter maxChannels="2"/>"#)

    static let presets = [
        Preset(name: "VIDEO-1", tracks: [("VIDEO", video(nil, nil))]),
        Preset(name: "VIDEO-2", tracks: [sd, ("HD", video(589_825, nil))]),
        Preset(name: "VIDEO-3", tracks: [sd, hd, uhd]),
        Preset(name: "VIDEO-4", tracks: [sd, hd, uhd1, uhd2]),
        Preset(name: "VIDEO-5", tracks: [sd, hd1, hd2, uhd1, uhd2]),
        Preset(name: "VIDEO-6", tracks: [sd, hd1, hd2, uhd]),
        Preset(name: "VIDEO-7", tracks: [sdAndHD1, hd2, uhd]),
        Preset(name: "VIDEO-8", tracks: [sdAndHD1, hd2, uhd1, uhd2]),
        Preset(name: "two filters for two parts", tracks: [("SD+HD1", sd.1 + hd1.1), hd2]),
        Preset(name: "AUDIO-1", tracks: [("AUDIO", "<cpix:AudioFilter/>")]),
        Preset(name: "AUDIO-2", tracks: [stereo, ("MULTICHANNEL_AUDIO", #"<cpix:AudioFilter minChannels="3"/>"#)]),
        Preset(
            name: "AUDIO-3",
            tracks: [
                stereo, ("MULTICHANNEL_AUDIO_3_6", #"<cpix:AudioFilter minChannels="3" maxChannels="6"/>"#),
                ("MULTICHANNEL_AUDIO_7", #"<cpix:AudioFilter minChannels="7"/>"#),
            ]),
        Preset(name: "SHARED", tracks: [("ALL", "<cpix:VideoFilter/><cpix:AudioFilter/>")]),
        Preset(name: "free text", tracks: [("Kinder €", video(nil, nil)), ("Ton", "<cpix:AudioFilter/>")]),
    ]

    @Test(arguments: presets)
    func `each preset is taken and comes back unchanged`(_ preset: Preset) async throws {
        let kids = preset.tracks.indices.map { String(format: "00000000-0000-4000-8000-%012d", $0) }
        let rules = zip(preset.tracks, kids).map { SPEKERequest.rule($0.0, $0.1, kid: $1) }.joined()
        let request = SPEKERequest(
            keys: kids.map { SPEKERequest.key("cbcs", kid: $0) }.joined(),
            systems: kids.map { SPEKERequest.system(.fairPlay, "", kid: $0) }.joined(), rules: rules)
        let outcome = try await SPEKEStage().answer(request.text)
        #expect(outcome.response.status == 200)
        #expect(String(decoding: outcome.response.bytes ?? Data(), as: UTF8.self).contains(rules))
        #expect(outcome.keys.map { $0.tracks.map(\.trackType) } == preset.tracks.map { [$0.0] })
    }

    @Test func `one key may serve several kinds of tracks`() async throws {
        let rules = SPEKERequest.rule(Self.sd.0, Self.sd.1) + SPEKERequest.rule("AUDIO", "<cpix:AudioFilter/>")
        #expect(try await SPEKEStage().answer(SPEKERequest(rules: rules).text).keys.first?.tracks.count == 2)
    }

    @Test func `a kind of tracks may occur again in another period`() async throws {
        let rule = { (period: String) in
            SPEKERequest.rule("VIDEO", #"<cpix:VideoFilter/><cpix:KeyPeriodFilter periodId="\#(period)"/>"#)
        }
        let periods = #"<cpix:ContentKeyPeriod id="a" index="1"/><cpix:ContentKeyPeriod id="b" index="2"/>"#
        let both = SPEKERequest(periods: periods, rules: rule("a") + rule("b"))
        #expect(try await SPEKEStage().answer(both.text).response.status == 200)
        let same = SPEKERequest(periods: periods, rules: rule("a") + rule("a"))
        #expect(try await SPEKEStage().refusal(same.text) == ["422", "Malformed encryption contract"])
    }

    @Test func `a rule of all periods clashes with one of a period`() async throws {
        let periods = #"<cpix:ContentKeyPeriod id="a" index="1"/>"#
        let rules =
            SPEKERequest.rule("VIDEO", "<cpix:VideoFilter/>")
            + SPEKERequest.rule("VIDEO", #"<cpix:VideoFilter/><cpix:KeyPeriodFilter periodId="a"/>"#)
        let request = SPEKERequest(periods: periods, rules: rules)
        #expect(try await SPEKEStage().refusal(request.text) == ["422", "Malformed encryption contract"])
    }
}
