import Foundation
import LatchkeyCore
import LatchkeyPlayback
import Testing

@Suite struct StreamPlayerTests {
    @Test(arguments: DemoAsset.allCases)
    func `with its keys an asset plays to the last picture and sample`(asset: DemoAsset) async throws {
        let scratch = try asset.copy()
        let result = try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: DemoAsset.keys())
        let verdict = result.verdict(against: try DemoAsset.reference())
        #expect(verdict.isRight)
        #expect(verdict.tracks.map(\.samples?.matching) == (asset == .twoKeys ? [150, 283] : [150]))
        #expect(verdict.tracks.map(\.frames?.matching) == (asset == .twoKeys ? [150, nil] : [150]))
        #expect(result.tracks.allSatisfy { $0.complaints.isEmpty })
        #expect(result.verdict().isRight)
    }

    @Test(arguments: DemoAsset.allCases)
    func `with a wrong key not one sample is right`(asset: DemoAsset) async throws {
        let scratch = try asset.copy()
        let wrong = try #require(
            DemoAsset.contentKey("0f0e0d0c0b0a09080706050403020100", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"))
        let keys = try DemoAsset.keys().mapValues { _ in wrong }
        let result = try await StreamPlayer(FFmpeg()).play(scratch.copy, keys: keys)
        let verdict = result.verdict(against: try DemoAsset.reference())
        print(
            asset, result.tracks.map { ($0.media, $0.samples.count, $0.frames.count, $0.complaintCount) },
            verdict.tracks.map { ($0.samples, $0.frames) }, result.tracks.map(\.complaints))
        #expect(!verdict.isRight)
        #expect(verdict.tracks.allSatisfy { $0.samples?.matching == 0 })
    }
}
