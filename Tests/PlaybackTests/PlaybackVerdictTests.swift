import Foundation
import LatchkeyCore
import LatchkeySimulation
import Testing

@testable import LatchkeyPlayback

@Suite struct PlaybackVerdictTests {
    private static let reference = ReferenceHashes(
        videoSamples: ["a", "b"], audioSamples: ["s"], tsVideoAccessUnits: ["c", "d"], videoFrames: ["x", "y"])

    private static func track(
        _ samples: [String], frames: [String], complaints: [String] = [], _ media: MediaKind = .video,
        in container: ContainerKind = .fragmentedMP4
    ) -> PlayedTrack {
        var track = PlayedTrack(media, in: container)
        track.samples = samples
        track.frames = frames
        track.add(complaints: complaints)
        return track
    }

    @Test(arguments: [
        (["a", "b"], ["x", "y"], true), (["a", "z"], ["x", "y"], false), (["a", "b"], ["x"], false),
        (["a"], ["x", "y"], false), (["a", "b", "b"], ["x", "y"], false), ([], [], false),
        (["b", "a"], ["x", "y"], false),
    ])
    func `every sample and every picture has to agree in its place`(
        samples: [String], frames: [String], isRight: Bool
    ) {
        let verdict = PlaybackResult(tracks: [Self.track(samples, frames: frames)]).verdict(against: Self.reference)
        #expect(verdict.isRight == isRight)
        #expect(verdict.tracks.first?.basis == .reference)
    }

    @Test func `complaints do not outweigh agreement`() {
        let track = Self.track(["a", "b"], frames: ["x", "y"], complaints: ["late"])
        #expect(PlaybackResult(tracks: [track]).verdict(against: Self.reference).isRight)
    }

    @Test func `a transport stream is compared with its own access units`() {
        let tracks = [["c", "d"], ["a", "b"]].map { Self.track($0, frames: ["x", "y"], in: .transportStream) }
        let verdict = PlaybackResult(tracks: tracks).verdict(against: Self.reference)
        #expect(verdict.tracks.map(\.isRight) == [true, false])
    }

    @Test func `sound is compared by samples, not by decoded output`() {
        let verdict = PlaybackResult(tracks: [Self.track(["s"], frames: ["1", "2", "3"], .audio)])
            .verdict(against: Self.reference)
        #expect(verdict.isRight)
        #expect(verdict.tracks.first?.frames == nil)
    }

    @Test(arguments: [(["c"], [], true), (["c"], ["late"], false), ([], [], false)])
    func `sound of a transport stream is left to the decoder`(frames: [String], complaints: [String], isRight: Bool) {
        let track = Self.track(["s"], frames: frames, complaints: complaints, .audio, in: .transportStream)
        let verdict = PlaybackResult(tracks: [track]).verdict(against: Self.reference)
        #expect(verdict.isRight == isRight)
        #expect(verdict.tracks.first?.basis == .decoder)
    }

    @Test(arguments: [(["a"], ["x"], true), (["b"], ["x"], false), ([], [], false), (["a", "b", "c"], ["x"], false)])
    func `a partial stream has to agree as far as it goes`(samples: [String], frames: [String], isRight: Bool) {
        let result = PlaybackResult(tracks: [Self.track(samples, frames: frames)], isComplete: false)
        #expect(result.verdict(against: Self.reference).isRight == isRight)
    }

    @Test func `a result without output is wrong`() {
        #expect(!PlaybackResult(tracks: []).verdict(against: Self.reference).isRight)
    }

    @Test func `complaints are counted in full and kept in part`() {
        var track = Self.track([], frames: [], complaints: Array(repeating: "late", count: 15))
        track.append(Self.track([], frames: [], complaints: Array(repeating: "late", count: 30)))
        #expect(track.complaints.count == 20)
        #expect(track.complaintCount == 45)
    }

    @Test func `the demo asset's hashes are read`() throws {
        let reference = try DemoAsset.reference()
        #expect(reference.videoSamples.count == 150 && reference.audioSamples.count == 283)
        #expect(reference.tsVideoAccessUnits.count == 150 && reference.videoFrames.count == 150)
    }

    @Test(arguments: ["", "[]", "{}", #"{"videoSamples":"a"}"#, #"{"videoSamples":[1]}"#, #"{"other":["a"]}"#])
    func `hashes of another form are refused`(json: String) {
        #expect(errorCode { try ReferenceHashes(json: Data(json.utf8)) } == "malformedReference")
    }
}
