import AVFoundation
import LatchkeyAVFoundation
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import StandInEngine
import Testing

/// Streams that play through `AVPlayer`'s stand-in, over HTTP.
@Suite(.timeLimit(.minutes(5))) struct AVPlayerKeysTests {
    @Test(arguments: DemoAsset.allCases)
    func `a stream plays right with one license per key`(_ stream: DemoAsset) async throws {
        try await PlayerStage.with { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist(stream))
            let result = try await app.play()
            #expect(result.isRight)
            #expect(result.verdict.tracks.contains { $0.basis == .reference })
            #expect(stage.service(for: .vuDRM).licenses == result.keyURIs.count)
            #expect(stage.service(for: .vuDRM).count(of: .certificate) == 1)
            #expect(stage.log.violations.isEmpty)
            #expect(stage.log.callbacks.allSatisfy { $0.implementation == .own })
            #expect(stage.log.callbacks.allSatisfy { $0.place == "latchkey.content-key-session" })
            #expect(app.failures.all.isEmpty)
        }
    }

    @Test(arguments: [VendorProfile.vuDRM, .cloudDRM, .axinom, .drmToday, .mux, .ezdrm, .doveRunner, .nagra])
    func `a stream of any vendor plays`(_ profile: VendorProfile) async throws {
        try await PlayerStage.with { stage in
            let app = AVApp(stage.loader(profile), playing: stage.playlist(for: profile))
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: [IdentifierForm.string, .url, .nsString, .nsURL])
    func `a key's name is taken in every form`(_ form: IdentifierForm) async throws {
        var behavior = StandInBehavior()
        behavior.identifierForm = form
        try await PlayerStage.with(behavior) { stage in
            let result = try await AVApp(stage.loader(), playing: stage.playlist()).play()
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a key without a name fails immediately with a remedy`() async throws {
        var behavior = StandInBehavior()
        behavior.identifierForm = .none
        try await PlayerStage.with(behavior) { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist())
            let error = await #expect(throws: NSError.self) { try await app.play() }
            #expect(error?.domain == "Latchkey.ContentKeyError")
            #expect(error?.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String != nil)
            #expect(stage.service(for: .vuDRM).licenses == 0)
        }
    }

    @Test func `several assets play with one session, each with its keys`() async throws {
        try await PlayerStage.with { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist(.transportStream))
            let other = AVURLAsset(url: stage.playlist(.twoKeys))
            app.keys.protect(other)
            async let first = app.play()
            async let second = AVApp.play(other)
            let (one, two) = try await (first, second)
            #expect(one.isRight && two.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a preloaded stream requests nothing when it plays`() async throws {
        try await PlayerStage.with { stage in
            let loader = stage.loader()
            let app = AVApp(loader, playing: stage.playlist(.twoKeys))
            let preloaded = await loader.preload(stage.playlist(.twoKeys), into: app.keys)
            #expect(preloaded.keys.count == 2)
            #expect(!app.keys.preload(try #require(preloaded.keys.first?.uri)))
            let licenses = stage.service(for: .vuDRM).licenses
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.service(for: .vuDRM).licenses == licenses)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `keys that a receiver requests again are fetched again`() async throws {
        try await PlayerStage.with(StandInBehavior([.switchesToAirPlay])) { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist())
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.service(for: .vuDRM).licenses == 2 * result.keyURIs.count)
            #expect(stage.log.violations.isEmpty)
        }
    }
}
