import Foundation
import LatchkeyCore
import LatchkeyReactNativeVideo
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import ReactNativeVideo
import StandInEngine
import Testing

/// react-native-video's players with a plugin that gets their keys.
@Suite(.timeLimit(.minutes(2))) struct ReactNativeVideoKeysTests {
    @Test(arguments: [VendorProfile.vuDRM, .cloudDRM, .axinom, .drmToday, .mux, .ezdrm, .doveRunner, .nagra])
    func `a stream of any vendor plays right`(_ profile: VendorProfile) async throws {
        try await PlayerStage.with { stage in
            let loader = stage.loader(profile)
            let plugin = ReactNativeVideoKeys(loader, onFailure: unexpected)
            let result = try await play(stage.playlist(.twoKeys, for: profile))
            #expect(result.isRight)
            #expect(stage.service(for: profile).licenses == result.keyURIs.count)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(stage.log.violations.isEmpty)
            withExtendedLifetime(plugin) {}
        }
    }

    @Test func `sources have their own loaders, and play at the same time`() async throws {
        try await PlayerStage.with { stage in
            let loaders = [VendorProfile.vuDRM, .axinom].map { (stage.playlist(for: $0), stage.loader($0)) }
            let plugin = ReactNativeVideoKeys(onFailure: unexpected) { source in loaders.first { $0.0 == source.url }?.1
            }
            async let first = play(stage.playlist(for: .vuDRM))
            async let second = play(stage.playlist(for: .axinom))
            let (one, two) = try await (first, second)
            #expect(one.isRight && two.isRight && stage.log.violations.isEmpty)
            withExtendedLifetime(plugin) {}
        }
    }

    @Test func `a source unknown to the plugin is left to others`() async throws {
        try await PlayerStage.with { stage in
            let plugin = ReactNativeVideoKeys(onFailure: unexpected) { _ in nil }
            let error = await #expect(throws: NSError.self) { try await play(stage.playlist()) }
            #expect(error?.domain == "ReactNativeVideo")
            withExtendedLifetime(plugin) {}
        }
    }

    @Test func `a script that asks for other keys gets an error`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let plugin = ReactNativeVideoKeys(stage.loader(), onFailure: failures.add)
            await #expect(throws: (any Error).self) { try await play(stage.playlist(), type: "widevine") }
            // The library swallows a manager's errors.
            #expect(failures.codes == ["unfitForPlayer"])
            #expect(failures.all.allSatisfy { $0.isComplete })
            withExtendedLifetime(plugin) {}
        }
    }

    @Test func `a refusal is an error to the player and a failure to the app`() async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).environment.faults.set(.status(403), at: .license)
            let failures = FailureLog()
            let plugin = ReactNativeVideoKeys(stage.loader(), onFailure: failures.add)
            let error = await #expect(throws: NSError.self) { try await play(stage.playlist()) }
            #expect(error?.isComplete == true)
            await failures.until(1)
            #expect(failures.all.count == 1)
            withExtendedLifetime(plugin) {}
        }
    }

    @Test func `a source has one manager and one loader, however often the library asks`() async throws {
        try await PlayerStage.with { stage in
            let asked = Locked(0)
            let plugin = ReactNativeVideoKeys(onFailure: unexpected) { _ in
                asked.withLock { $0 += 1 }
                return stage.loader()
            }
            let source = HybridVideoPlayerSource(
                config: NativeVideoConfig(uri: stage.playlist().absoluteString, drm: nil))
            let first = try #require(plugin.getDRMManager(source: source))
            let second = try #require(plugin.getDRMManager(source: source))
            #expect(first === second)
            #expect(asked.withLock { $0 } == 1)
        }
    }

    private func play(_ url: URL, type: String = "fairplay") async throws -> StandInPlayback.Result {
        let parameters = NativeDrmParams(
            type: type, licenseUrl: nil, certificateUrl: nil, contentId: nil, licenseHeaders: nil, multiSession: nil,
            getLicense: nil)
        let player = HybridVideoPlayer(config: NativeVideoConfig(uri: url.absoluteString, drm: parameters))
        try await player.play()
        return try await #require(player.standIn).finished()
    }
}
