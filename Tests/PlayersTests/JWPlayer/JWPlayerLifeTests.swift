import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeyJWPlayer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import StandInPlayers
import Testing

/// Renewals, and all ways in which a key of JW Player 4 ends.
@Suite(.timeLimit(.minutes(5))) struct JWPlayerLifeTests {
    private static let lease = LicenseTerms(.lease(.seconds(600)))
    private static let leasing = VendorProfile.verimatrix.setting("leaseDuration", to: "600")

    @Test func `a lease is renewed at the date given to the player`() async throws {
        try await PlayerStage.with(terms: Self.lease) { stage in
            let loader = stage.loader(Self.leasing)
            let purposes = PurposeLog(loader)
            let app = try JWApp(loader, on: stage, playing: stage.playlist(for: Self.leasing))
            let keys = try await app.play().keyURIs
            stage.time.advance(by: .seconds(450))
            await stage.log.untilCallback("contentKeyWithSPCData", times: 2 * keys.count)
            await purposes.until(.renewal, times: keys.count)
            await stage.service(for: Self.leasing).untilLicenses(2 * keys.count)
            #expect(app.failures.codes.isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a lease that cannot be renewed ends with one error per key`() async throws {
        try await PlayerStage.with(terms: Self.lease) { stage in
            let app = try JWApp(stage.loader(Self.leasing), on: stage, playing: stage.playlist(for: Self.leasing))
            let keys = try await app.play().keyURIs
            stage.service(for: Self.leasing).faults.set(.status(403), at: .license)
            stage.time.advance(by: .seconds(450))
            await app.failures.until("forbidden")
            await stage.passTime { app.failures.codes.contains("leaseEnded") }
            #expect(app.failures.codes.count { $0 == "leaseEnded" } == keys.count)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a service that does not answer costs the deadline`() async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let app = try JWApp(stage.loader(deadline: .seconds(30)), on: stage, playing: stage.playlist())
            async let result = app.failure()
            await service.untilLicenses(1)
            await stage.time.untilSomeoneSleeps(for: .seconds(30))
            stage.time.advance(by: .seconds(30))
            #expect(await result != nil)
            service.open()
            #expect(app.failures.codes == ["deadlineExceeded"])
            #expect(stage.log.violations.isEmpty)
        }
    }

    enum End: CaseIterable { case release, deallocation, loaderIsCancelled }

    @Test(arguments: End.allCases)
    func `open requests are answered once when everything ends`(_ end: End) async throws {
        try await PlayerStage.with { stage in
            let service = stage.service(for: .vuDRM)
            service.hold()
            let loader = stage.loader()
            let app = try JWApp(loader, on: stage, playing: stage.playlist(.twoKeys))
            async let result = app.failure()
            await service.untilLicenses(2)
            switch end {
            case .release: app.keys?.release()
            case .deallocation: app.drop()
            case .loaderIsCancelled: loader.cancel()
            }
            #expect(await result != nil)
            await stage.log.untilCallback("contentKeyWithSPCData", times: 2)
            service.open()
            #expect(app.failures.codes.isEmpty)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `keys that wait their turn are answered when everything ends`() async throws {
        try await PlayerStage.with { stage in
            var keys: JWPlayerKeys? = JWPlayerKeys(stage.loader(), timekeeper: stage.time, onFailure: unexpected)
            let answers = AnswerLog()
            for index in 0..<3 {
                let url = try #require(URL(string: stage.key(index).raw))
                keys?.contentIdentifierForURL(url) { answers.add($0) }
            }
            await answers.until(1)
            keys = nil
            await answers.until(3)
            #expect(answers.all.compactMap { $0 }.count == 1)
        }
    }

    @Test func `a slow certificate does not mix up keys`() async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.delay(.seconds(10)), at: .certificate)
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist(.twoKeys))
            async let result = app.play()
            await stage.time.untilSomeoneSleeps(for: .seconds(10))
            stage.time.advance(by: .seconds(10))
            let played = try await result
            #expect(played.isRight)
            #expect(app.failures.codes.isEmpty)
        }
    }

    @Test func `a player that gave up gets the answer safely`() async throws {
        try await PlayerStage.with(StandInBehavior([.cancelsMidway])) { stage in
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist())
            await #expect(throws: JWError.self) { try await app.play() }
            await stage.service(for: .vuDRM).untilLicenses(1)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a player that drops its data source keeps playing with its requested keys`() async throws {
        try await PlayerStage.with(StandInBehavior([.dropsDelegate])) { stage in
            let app = try JWApp(stage.loader(), on: stage, playing: stage.playlist(.transportStream))
            _ = try? await app.play()
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `two players share a loader, and one releases its keys alone`() async throws {
        try await PlayerStage.with(terms: Self.lease) { stage in
            let loader = stage.loader(Self.leasing)
            let apps = try (0..<2).map { _ in
                try JWApp(loader, on: stage, playing: stage.playlist(for: Self.leasing))
            }
            let keys = try await apps[0].play().keyURIs
            let played = try await apps[1].play()
            #expect(played.isRight)
            apps[0].view.player.stop()
            apps[0].keys?.release()
            let purposes = PurposeLog(loader)
            stage.time.advance(by: .seconds(450))
            await purposes.until(.renewal, times: keys.count)
            #expect(stage.service(for: Self.leasing).count(of: .certificate) == 1)
            #expect(stage.log.violations.isEmpty)
        }
    }
}

/// The answers of a completion handler.
final class AnswerLog: Sendable {
    private struct State {
        var answers: [Data?] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var all: [Data?] { state.withLock { $0.answers } }

    func add(_ answer: Data?) {
        let met = state.withLock { state in
            state.answers.append(answer)
            let count = state.answers.count
            defer { state.watchers.removeAll { $0.count <= count } }
            return state.watchers.filter { $0.count <= count }.map(\.continuation)
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits until a number of answers have arrived.
    func until(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                let isThere = state.answers.count >= count
                if !isThere { state.watchers.append((count, continuation)) }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }
}
