import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

@Suite(.serialized) struct StreamTests {
    @Test(arguments: VendorProfile.all.map(\.identifier), DemoAsset.allCases)
    func `every sample and every frame is right`(_ name: String, _ asset: DemoAsset) async throws {
        let profile = try #require(VendorProfile.named(name))
        let folder = try TemporaryFolder()
        try await LiveServices.with { live in
            let loader = live.loader(profile)
            let report = try await live.player(loader).play(
                live.playlist(asset, for: profile), with: FFmpeg(), picture: folder.file("picture.png"),
                reference: try DemoAsset.reference())

            let verdict = try #require(report.verdict)
            #expect(report.isRight)
            #expect(verdict.tracks.allSatisfy { $0.isRight && $0.samples?.matching == $0.samples?.expected })
            #expect(verdict.tracks.first { $0.media == .video }?.frames?.matching == 150)
            #expect(report.frameCount == 150)
            #expect(try Data(contentsOf: folder.file("picture.png")).starts(with: [0x89, 0x50, 0x4e, 0x47]))
            #expect(report.keys.count == asset.keyCount)
            let service = live.service(for: profile)
            #expect(service.requests(at: .certificate).count == 1)
            #expect(service.requests(at: .license).count == asset.keyCount)
            #expect(report.requests.count == 1 + asset.keyCount)
            #expect(service.warnings.isEmpty)
        }
    }

    @Test(arguments: DemoAsset.allCases)
    func `with the wrong content key no sample is right, and the verdict says so`(_ asset: DemoAsset) async throws {
        try await LiveServices.with(keys: try LiveServices.wrongKeys()) { live in
            let report = try await live.player(live.loader(.vuDRM)).play(
                live.playlist(asset, for: .vuDRM), with: FFmpeg(), reference: try DemoAsset.reference())
            #expect(report.failure == nil)
            #expect(!report.isRight)
            let protected = try #require(report.verdict).tracks.filter { $0.samples != nil }
            #expect(!protected.isEmpty)
            #expect(protected.allSatisfy { !$0.isRight })
            // One frame of the sound has 5 bytes, less than a block, and so was never encrypted.
            #expect(protected.allSatisfy { $0.samples?.matching == ($0.media == .audio ? 1 : 0) })
        }
    }
}

extension DemoAsset {
    var keyCount: Int { self == .transportStream ? 1 : 2 }
}
