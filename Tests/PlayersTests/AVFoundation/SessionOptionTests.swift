import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

@testable import LatchkeyAVFoundation

/// The options that an app may set on a content key session, and their effects.
@Suite(.timeLimit(.minutes(5))) struct SessionOptionTests {
    private static var advisory: AVPlayerKeys.Options {
        var options = AVPlayerKeys.Options()
        options.usesAdvisoryKeys = true
        return options
    }

    // MARK: Advisory keys

    @Test func `a key that the system has plays without a license and is not answered`() async throws {
        try await PlayerStage.with { stage in
            let first = AVApp(stage.loader(), playing: stage.playlist())
            let played = try await first.play()
            for key in played.keyURIs { first.session?.standIn.keepAdvisoryKey(key.raw) }
            let licenses = stage.service(for: .vuDRM).licenses

            let loader = stage.loader()
            let ends = EndLog(loader)
            let second = AVApp(loader, playing: stage.playlist(), options: Self.advisory)
            let result = try await second.play()
            #expect(result.isRight)
            #expect(stage.service(for: .vuDRM).licenses == licenses)
            await ends.until("heldBySystem", times: played.keyURIs.count)
            #expect(ends.all.allSatisfy { $0 == "heldBySystem" })
            #expect(stage.log.violations.isEmpty && second.failures.all.isEmpty)
        }
    }

    @Test func `with advisory keys, a key that the system lacks needs a license`() async throws {
        try await PlayerStage.with { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist(.twoKeys), options: Self.advisory)
            let result = try await app.play()
            #expect(result.isRight)
            #expect(stage.service(for: .vuDRM).licenses == 2)
            #expect(app.session?.supportsAdvisoryKeys == true)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `advisory keys are off by default`() async throws {
        try await PlayerStage.with { stage in
            let app = AVApp(stage.loader(), playing: stage.playlist())
            #expect(app.session?.supportsAdvisoryKeys == false)
        }
    }

    // MARK: Device identifiers

    @Test func `a device identifier is AVFoundation's option, added to the app's`() {
        var options = AVPlayerKeys.Options(keyRequest: ["app": 1])
        #expect(Set(options.spcOptions(for: "skd://a").keys) == ["app"])
        options.deviceIdentifier = .random
        #expect(
            options.spcOptions(for: "skd://a")[AVContentKeyRequestShouldRandomizeDeviceIdentifierKey] as? Bool == true)
        options.deviceIdentifier = .seeded(Data(repeating: 7, count: 16))
        #expect(
            options.spcOptions(for: "skd://a")[AVContentKeyRequestRandomDeviceIdentifierSeedKey] as? Data
                == Data(repeating: 7, count: 16))
        #expect(options.spcOptions(for: "skd://a")["app"] as? Int == 1)
    }

    @Test func `an option may be a key's own, such as the stored key of its title`() {
        let name = AVContentKeyRequestRequiresValidationDataInSecureTokenKey
        var options = AVPlayerKeys.Options(keyRequest: ["app": 1, name: Data()])
        options.keyRequestFor = { $0 == "skd://a" ? [name: Data([7])] : [:] }
        #expect(options.spcOptions(for: "skd://a")[name] as? Data == Data([7]))
        #expect(options.spcOptions(for: "skd://b")[name] as? Data == Data())
        options.deviceIdentifier = .random
        #expect(options.spcOptions(for: "skd://a").count == 3)
        // A receiver that rejects random identifiers gets them, too.
        #expect(options.appOptions(for: "skd://a")[name] as? Data == Data([7]))
    }

    @Test func `a receiver without random identifiers gets the standard one`() async throws {
        var behavior = StandInBehavior()
        behavior.allowsRandomDeviceIdentifiers = false
        try await PlayerStage.with(behavior) { stage in
            var options = AVPlayerKeys.Options()
            options.deviceIdentifier = .random
            let result = try await AVApp(stage.loader(), playing: stage.playlist(), options: options).play()
            #expect(result.isRight)
            #expect(stage.log.violations.isEmpty)
        }
    }

    // MARK: Initialization data

    @Test func `the app names a key that has only initialization data`() async throws {
        try await PlayerStage.with { stage in
            var options = AVPlayerKeys.Options()
            let key = stage.key()
            options.keyNamed = { $0 == Data("pssh".utf8) ? key : nil }
            let app = AVApp(stage.loader(), playing: stage.playlist(), options: options)
            #expect(app.keys.preload(initializationData: Data("pssh".utf8)))
            await stage.log.untilCallback("didSucceed")
            #expect(stage.service(for: .vuDRM).licenses == 1)
            app.keys.preload(initializationData: Data("other".utf8))
            await stage.log.untilCallback("didFail")
            #expect(app.failures.codes == ["keyUnnamed"])
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `an app may preload and release keys while naming one`() async throws {
        try await PlayerStage.with { stage in
            let (key, keys, hasReleased) = (stage.key(), Locked<AVPlayerKeys?>(nil), Gate())
            var options = AVPlayerKeys.Options()
            options.keyNamed = { data in
                guard let keys = keys.withLock({ $0 }) else { return nil }
                let asset = AVURLAsset(url: stage.playlist())
                keys.preload(key, as: "movie")
                keys.protect(asset, as: "trailer")
                keys.release(asset)
                if data == Data("release".utf8) {
                    keys.release()
                    hasReleased.open()
                }
                return key
            }
            let app = AVApp(stage.loader(), playing: stage.playlist(), options: options)
            keys.withLock { $0 = app.keys }
            app.keys.preload(initializationData: Data("pssh".utf8), as: "movie")
            await stage.log.untilCallback("didSucceed")
            app.keys.preload(initializationData: Data("release".utf8), as: "movie")
            await hasReleased.wait()
            let count = stage.log.contents.count(of: "didSucceed")
            app.keys.preload(initializationData: Data("pssh".utf8), as: "movie")
            await stage.log.untilCallback("didSucceed", times: count + 1)
            #expect(app.failures.codes == [])
            keys.withLock { $0 = nil }
        }
    }
}

/// How a loader's key requests ended.
private final class EndLog: Sendable {
    private let ends = Locked<[String]>([])

    var all: [String] { ends.withLock { $0 } }

    init(_ loader: ContentKeyLoader) {
        let events = loader.events()
        Task { [weak self] in
            for await event in events {
                switch event.kind {
                case .heldBySystem: self?.add("heldBySystem")
                case .answered: self?.add("answered")
                case .failed: self?.add("failed")
                default: break
                }
            }
        }
    }

    func until(_ name: String, times: Int) async {
        while all.count(where: { $0 == name }) < times { await Task.yield() }
    }

    private func add(_ name: String) { ends.withLock { $0.append(name) } }
}
