import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHLS
import LatchkeyMedia
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct StreamTests {
    /// The profiles with an emulated service.
    static let emulated = VendorProfile.all.map(\.identifier).filter { name in
        let authority = LicenseAuthority(
            module: KeyServerModule(credentials: [], derivation: InsecureTestDerivation()), keys: ContentKeyStore([]))
        return VendorServices.all(authority: authority).contains {
            name == $0.identifier.rawValue || name.hasPrefix("\($0.identifier)-")
        }
    }

    /// Decoding is slow, so it is done for one vendor here and for all in the demo. All vendors must get the right keys.
    @Test(arguments: DemoAsset.allCases)
    func `every sample and every frame is right`(_ asset: DemoAsset) async throws {
        let profile = VendorProfile.vuDRM
        let folder = try TemporaryFolder()
        try await LiveServices.with(lenient: []) { live in
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

    @Test func `a key that the session keys omit is fetched when the media playlist names it`() async throws {
        let folder = try TemporaryFolder()
        try await LiveServices.with(lenient: []) { live in
            let address = live.playlist(.twoKeys, for: .vuDRM)
            let base = address.replacingOccurrences(of: "master.m3u8", with: "")
            let fetched = try await WebResources().playlist(at: address)
            let lines = String(decoding: fetched.bytes, as: UTF8.self).split(separator: "\n")
                .filter { !($0.contains("SESSION-KEY") && $0.contains("audio")) }
            let master = lines.joined(separator: "\n").replacingOccurrences(of: "video.m3u8", with: base + "video.m3u8")
                .replacingOccurrences(of: "audio.m3u8", with: base + "audio.m3u8")
            try Data(master.utf8).write(to: folder.file("master.m3u8"))
            let report = try await live.player(live.loader(.vuDRM)).play(
                folder.file("master.m3u8").path, with: FFmpeg(), reference: try DemoAsset.reference())
            #expect(report.isRight)
            #expect(report.keys.count == 2 && report.requests.count == 3)
        }
    }

    @Test(arguments: emulated, DemoAsset.allCases)
    func `every profile gets the right keys with one certificate`(_ name: String, _ asset: DemoAsset) async throws {
        let profile = try #require(VendorProfile.named(name))
        try await LiveServices.with(lenient: []) { live in
            let service = live.service(for: profile)
            let report = try await live.player(live.loader(profile)).keys(of: live.playlist(asset, for: profile))
            #expect(report.failure == nil)
            let keys = report.keys.compactMap { try? $0.outcome.get().contentKey }
            #expect(keys.count == asset.keyCount)
            // JW Platform's requests name no key: a signed address is for one key. Source: `Documentation/Vendors/JWPlatform.md`.
            let expected = try name == "jw-platform" ? DemoAsset.transportStream.contentKeys() : asset.contentKeys()
            #expect(Set(keys) == expected)
            #expect(service.requests(at: .certificate).count <= 1)
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
            // One audio frame has 5 bytes, less than a cipher block, so it is never encrypted.
            #expect(protected.allSatisfy { $0.samples?.matching == ($0.media == .audio ? 1 : 0) })
        }
    }
}

extension DemoAsset {
    var keyCount: Int { self == .transportStream ? 1 : 2 }

    /// The content keys of its playlists.
    func contentKeys() throws -> Set<ContentKey> {
        let uris =
            switch self {
            case .twoKeys: ["skd://demo/video", "skd://demo/audio"]
            case .transportStream: ["skd://demo/video"]
            case .rotation: ["skd://oLHC0+T1BhcoOUpbbH2Onw==", "skd://scLT5PUGFyg5SltsfY6foA=="]
            }
        return Set(try LiveServices.demoKeys().keys.filter { uris.contains($0.uri.raw) }.map(\.content))
    }
}
