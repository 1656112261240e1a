import Foundation
import JWPlayer_iOS_SDK
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import StandInPlayers
import Testing

/// Tests of the stand-in for version 3 of JW Player's SDK.
@Suite(.timeLimit(.minutes(5))) struct JWPlayerControllerTests {
    private let calls = ["fetchContentIdentifier", "fetchAppIdentifier", "fetchContentKey"]

    private func play(_ source: OldSource, _ stream: DemoAsset = .transportStream) async throws
        -> StandInPlayback.Result
    {
        let config = JWConfig(contentURL: StandInFixture.playlist(of: stream).absoluteString)
        let player = try #require(JWPlayerController(config: config, delegate: nil, drmDataSource: source))
        player.play()
        return try await player.standIn.finished()
    }

    @Test(arguments: DemoAsset.allCases)
    func `a stream whose keys come from a data source plays right`(_ stream: DemoAsset) async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let source = OldSource(fixture.server)
            let result = try await play(source, stream)
            #expect(result.isRight)
            await fixture.log.untilCallbacks(calls, times: result.keyURIs.count)
            for call in calls { #expect(fixture.log.contents.count(of: call) == result.keyURIs.count) }
        }
        #expect(fixture.log.callbacks.allSatisfy { $0.implementation == .own })
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `each call can be made alone`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let source = OldSource(fixture.server)
            let player = try #require(
                JWPlayerController(config: JWConfig(contentURL: "file:///none"), delegate: nil, drmDataSource: source))
            let certificate = try await player.standIn.appIdentifier(for: "skd://a")
            #expect(certificate == fixture.server.certificate)
            let identifier = try await player.standIn.contentIdentifier(for: "skd://a")
            #expect(identifier == Data("skd://a".utf8))
            let reply = try await player.standIn.contentKey(for: Data())
            #expect(reply?.license?.isEmpty == true)
            // The log notes a call when it returns, which may be after the answer.
            await fixture.log.untilCallback("fetchContentKey")
            withExtendedLifetime(source) {}
        }
        await fixture.log.untilCallbacks(Array(calls))
    }

    @Test func `empty data is a failure, and the delegate hears of it`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let source = OldSource(fixture.server) { _, answer in answer(Data(), nil, nil) }
            let delegate = Listener()
            let config = JWConfig(contentURL: StandInFixture.playlist(of: .transportStream).absoluteString)
            let player = JWPlayerController(config: config, delegate: delegate, drmDataSource: source)
            await #expect(throws: NSError.self) { try await player?.standIn.finished() }
            await fixture.log.untilCallback("onError")
            #expect(delegate.errors.withLock { $0 } == 1)
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a completion that is called twice is noticed`() async throws {
        let fixture = try StandInFixture()
        let (answered, continuation) = AsyncStream<Void>.makeStream()
        try await fixture.stage.run {
            let source = OldSource(fixture.server) { spc, answer in
                let license = (try? fixture.server.license(for: spc)) ?? Data()
                answer(license, nil, nil)
                answer(license, nil, nil)
                continuation.yield()
            }
            _ = try await play(source)
        }
        // The player may finish between the two answers.
        for await _ in answered { break }
        #expect(fixture.log.brokenRules == [.completedTwice])
    }

    @Test func `a completion that is dropped is noticed`() async throws {
        let fixture = try StandInFixture()
        await fixture.stage.run {
            let source = OldSource(fixture.server) { _, _ in }
            await #expect(throws: NSError.self) { try await play(source) }
        }
        #expect(fixture.log.brokenRules == [.unanswered])
    }

    @Test func `a date without a content type is noticed`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let source = OldSource(fixture.server) { spc, answer in
                answer((try? fixture.server.license(for: spc)) ?? Data(), fixture.time.date, nil)
            }
            _ = try await play(source)
        }
        #expect(fixture.log.brokenRules == [.renewalDateWithoutType])
    }

    @Test func `a data source that nobody retains is noticed`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let config = JWConfig(contentURL: StandInFixture.playlist(of: .transportStream).absoluteString)
            let player = try #require(JWPlayerController(config: config))
            do {
                let source = OldSource(fixture.server)
                player.drmDataSource = source
            }
            player.play()
            await #expect(throws: NSError.self) { try await player.standIn.finished() }
        }
        #expect(fixture.log.brokenRules == [.delegateGone])
    }

    @Test func `a data source that comes after the keys were asked for is noticed`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let config = JWConfig(contentURL: StandInFixture.playlist(of: .transportStream).absoluteString)
            let player = try #require(JWPlayerController(config: config))
            player.play()
            let source = OldSource(fixture.server)
            player.drmDataSource = source
            _ = try? await player.standIn.finished()
            withExtendedLifetime(source) {}
        }
        #expect(fixture.log.brokenRules.contains(.delegateSetLate))
    }

    @Test func `another stream takes the place of the first`() async throws {
        let fixture = try StandInFixture()
        try await fixture.stage.run {
            let source = OldSource(fixture.server)
            let config = JWConfig(contentURL: StandInFixture.playlist(of: .transportStream).absoluteString)
            let player = try #require(JWPlayerController(config: config, delegate: nil, drmDataSource: source))
            player.load(JWConfig(contentURL: StandInFixture.playlist(of: .rotation).absoluteString))
            player.play()
            let result = try await player.standIn.finished()
            #expect(result.isRight && result.keyURIs.count == 2)
            withExtendedLifetime(source) {}
        }
    }

    @Test(arguments: [
        Misbehavior.callsBackTwice, .callsOnOddThreads, .repeatsIdentifiers, .reordersKeys, .switchesToAirPlay,
    ])
    func `a correct data source survives`(_ misbehavior: Misbehavior) async throws {
        let fixture = try StandInFixture(misbehavior)
        try await fixture.stage.run {
            let source = OldSource(fixture.server)
            let result = try await play(source, .twoKeys)
            #expect(result.isRight)
        }
        #expect(fixture.log.violations.isEmpty)
    }
}

/// A correct data source of version 3. A test can replace its answer to SPCs.
private final class OldSource: NSObject, JWDrmDataSource, Sendable {
    typealias Answer = (Data, Date?, String?) -> Void

    private let server: KeyServer
    private let key: @Sendable (Data, @escaping Answer) -> Void

    init(_ server: KeyServer, _ key: (@Sendable (Data, @escaping Answer) -> Void)? = nil) {
        self.server = server
        self.key = key ?? { spc, answer in answer((try? server.license(for: spc)) ?? Data(), nil, nil) }
    }

    func fetchContentIdentifier(
        forRequest loadingRequestURL: URL, for encryption: JWEncryption,
        withCompletion completion: @escaping (Data) -> Void
    ) { completion(Data(loadingRequestURL.absoluteString.utf8)) }

    func fetchAppIdentifier(
        forRequest loadingRequestURL: URL, for encryption: JWEncryption,
        withCompletion completion: @escaping (Data) -> Void
    ) { completion(server.certificate) }

    func fetchContentKey(
        withRequest requestBytes: Data, for encryption: JWEncryption,
        withCompletion completion: @escaping (Data, Date?, String?) -> Void
    ) { key(requestBytes, completion) }
}

/// Counts the errors that a player reports.
private final class Listener: NSObject, JWPlayerDelegate, Sendable {
    let errors = Locked(0)

    func onError(_ event: any JWEvent & JWErrorEvent) { errors.withLock { $0 += 1 } }
}
