import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeySimulation

@Suite(.timeLimit(.minutes(5))) struct LivePlayerTests {
    private let time = ManualTimekeeper()
    private let keys = RotatingKeys()
    private static let leaseOver = ContentKeyError(.sessionEnded, "The lease is over.", remedy: "Ask again.")

    @Test func `each track's key is requested once, ahead of its first segment, and no segment waits`() async throws {
        let simulated = try SimulatedServices(keys: keys.store(periods: 5), timekeeper: time)
        let player = LivePlayer(
            stream(simulated), loader: try simulated.loader(.vuDRM), applicationSecret: simulated.applicationSecret,
            timekeeper: time)
        let report = await played(player, segments: 20)

        #expect(report.segments == 40)
        #expect(report.gaps.isEmpty)
        #expect(report.failures.isEmpty)
        // Two keys at the start, and two more 2 segments of 6 s ahead of each change at 30, 60, 90 and 120 s.
        #expect(report.licenses.map(\.time) == [0, 0, 18, 18, 48, 48, 78, 78, 108, 108].map { .seconds($0) })
        #expect(Set(report.licenses.map(\.key)).count == 10)
    }

    @Test func `a key whose lease ends without a renewal leaves a gap until the next key`() async throws {
        let policy = LicensePolicy(standard: LicenseTerms(.lease(.seconds(24))))
        let simulated = try SimulatedServices(keys: keys.store(periods: 4), policy: policy, timekeeper: time)
        let player = LivePlayer(
            stream(simulated, tracks: ["video"]), loader: try simulated.loader(.vuDRM),
            applicationSecret: simulated.applicationSecret, timekeeper: time)
        let report = await played(player, segments: 10)

        // The first key arrived at 0 s and ends at 24 s; the second arrived at 18 s and ends at 42 s.
        #expect(report.gaps.map(\.start) == [.seconds(24), .seconds(42)])
        #expect(report.gaps.map(\.duration) == [.seconds(6), .seconds(18)])
    }

    @Test func `a key other than the segments' leaves a gap`() async throws {
        let simulated = try SimulatedServices(keys: RotatingKeys(seed: 2).store(periods: 1), timekeeper: time)
        let wrong = RotatingKeys(tracks: ["video"], seed: 2)
        let stream = LiveStream(tracks: ["video"]) { [keys] track, period in
            LiveStream.Key(
                uri: KeyURI("skd://services.test/vudrm/license/\(wrong.key(track, period: period).lastPathComponent)"),
                content: keys.key(track, period: period).content)
        }
        let player = LivePlayer(
            stream, loader: try simulated.loader(.vuDRM), applicationSecret: simulated.applicationSecret,
            timekeeper: time)
        let report = await player.play(for: .seconds(6))
        #expect(report.licenses.count == 1)
        #expect(report.gaps.map(\.duration) == [.seconds(6)])
    }

    @Test func `a refused first key is requested again, and playback starts with it`() async throws {
        let simulated = try SimulatedServices(keys: keys.store(periods: 1), timekeeper: time)
        try simulated.service(for: .vuDRM).faults.set(
            .refusal(code: "denied", status: 400), at: .license, for: .first(1))
        let player = LivePlayer(
            stream(simulated, tracks: ["video"]), loader: try simulated.loader(.vuDRM),
            applicationSecret: simulated.applicationSecret, timekeeper: time)
        // Refused at 0 s and requested again at the segment of 12 s. The answer to the first request, 10 s later, arrives after
        // it.
        let report = await played(player, segments: 4)
        #expect(report.failures.count == 1)
        #expect(report.failures.first?.purpose == .streaming)
        #expect(report.licenses.map(\.time) == [.seconds(12)])
        #expect(report.gaps.count == 1)
    }

    @Test func `a player that was suspended resumes at the live edge, with the current keys`() async throws {
        let simulated = try SimulatedServices(keys: keys.store(periods: 10), timekeeper: time)
        let player = LivePlayer(
            stream(simulated, tracks: ["video"]), loader: try simulated.loader(.vuDRM),
            applicationSecret: simulated.applicationSecret, timekeeper: time)
        let playback = player.makePlayback()
        async let playing = player.play(for: .seconds(252), playback)
        await time.untilSomeoneSleeps(for: .seconds(6))
        time.advance(by: .seconds(241))
        await time.untilSomeoneSleeps(for: .seconds(5))
        await playback.untilAnswered()
        time.advance(by: .seconds(5))
        let report = await playing

        // Segments 0, 40 (whose key comes too late) and 41.
        #expect(report.segments == 3)
        #expect(report.gaps.map(\.start) == [.seconds(241)])
        #expect(report.licenses.map(\.key) == [0, 8].map { KeyURI("skd://services.test/vudrm/license/video-\($0)") })
    }

    @Test func `a cancelled player releases its keys`() async throws {
        let simulated = try SimulatedServices(keys: keys.store(periods: 1), timekeeper: time)
        let player = LivePlayer(
            stream(simulated),
            loader: try simulated.loader(
                .vuDRM, configuration: LoaderConfiguration(leases: LeasePolicy(assumedLease: .seconds(600)))),
            applicationSecret: simulated.applicationSecret, timekeeper: time)
        let task = Task { await player.play(for: .seconds(600)) }
        await time.untilSomeoneSleeps(for: .seconds(6))
        task.cancel()
        let report = await task.value
        #expect(report.segments == 2)
        #expect(time.sleeperCount == 0)
    }

    // MARK: Calls of the loader to a key's request

    @Test func `a renewal is a new request of the same key and player, and its lease starts at its answer`()
        async throws
    {
        let policy = LicensePolicy(standard: LicenseTerms(.lease(.seconds(600))))
        let (playback, key) = try await playing(policy)
        let first = try #require(playback.heldRequest(key.uri))
        time.advance(by: .seconds(400))
        #expect(first.renew())
        await playback.untilAnswered()
        let second = try #require(playback.heldRequest(key.uri))
        #expect(second !== first)
        #expect(second.purpose == .renewal)
        #expect(second.keyURI == first.keyURI)
        #expect(second.player == first.player)
        #expect(!first.renew())

        time.advance(by: .seconds(599))
        playback.play(key, for: .seconds(1))
        time.advance(by: .seconds(1))
        playback.play(key, for: .seconds(1))
        #expect(playback.report.gaps.map(\.start) == [.seconds(1_000)])
        #expect(
            playback.report.renewals
                == [.init(key: key.uri, time: .seconds(400), age: .seconds(400), lease: .seconds(600))])
        #expect(playback.report.licenses.map(\.purpose) == [.streaming, .renewal])
        playback.close()
    }

    @Test func `a key that the loader calls ended is requested again later`() async throws {
        let policy = LicensePolicy(standard: LicenseTerms(.lease(.seconds(60))))
        let (playback, key) = try await playing(policy)
        time.advance(by: .seconds(60))
        playback.heldRequest(key.uri)?.ended(Self.leaseOver)
        playback.want([key.uri])
        playback.play(key, for: .seconds(6))
        time.advance(by: .seconds(10))
        playback.want([key.uri])
        await playback.untilAnswered()
        playback.play(key, for: .seconds(6))
        #expect(playback.report.ends.count == 1)
        #expect(playback.report.gaps.map(\.duration) == [.seconds(6)])
        #expect(playback.report.licenses.map(\.purpose) == [.streaming, .streaming])
        playback.close()
    }

    @Test func `a key that rotated out is held, as in AVPlayer, and its end is not counted`() async throws {
        let (playback, key) = try await playing(LicensePolicy())
        let request = try #require(playback.heldRequest(key.uri))
        playback.want([], inPlaylists: [])
        #expect(playback.heldRequest(key.uri) === request)
        #expect(await request.keysInPlaylists() == [])
        request.ended(Self.leaseOver)
        #expect(playback.report.ends.isEmpty)
        playback.close()
        #expect(!request.renew())
    }

    /// A playback that has the first key of the video.
    private func playing(_ policy: LicensePolicy) async throws -> (LivePlayback, LiveStream.Key) {
        let simulated = try SimulatedServices(keys: keys.store(periods: 1), policy: policy, timekeeper: time)
        let maker = SimulatedDeviceMaker(
            applicationSecret: simulated.applicationSecret, certificate: nil, timekeeper: time)
        let playback = LivePlayback(
            loader: try simulated.loader(.vuDRM), maker: maker, player: "living room", retryInterval: .seconds(10))
        let key = try #require(stream(simulated, tracks: ["video"]).keys(inPeriod: 0).first)
        playback.want([key.uri])
        await playback.untilAnswered()
        return (playback, key)
    }

    /// A stream with the services' keys, five segments for each.
    private func stream(
        _ simulated: SimulatedServices, tracks: [String] = ["audio", "video"]
    ) -> LiveStream {
        LiveStream(tracks: tracks, rotation: .seconds(30)) { [keys] track, period in
            let key = keys.key(track, period: period)
            return LiveStream.Key(
                uri: KeyURI("skd://services.test/vudrm/license/\(key.lastPathComponent)"), content: key.content)
        }
    }

    /// Plays segments of 6 s, each after the requests of the previous one were answered.
    private func played(_ player: LivePlayer, segments: Int) async -> LivePlayer.Report {
        let playback = player.makePlayback()
        async let report = player.play(for: .seconds(6 * segments), playback)
        for _ in 1..<segments {
            await time.untilSomeoneSleeps(for: .seconds(6))
            await playback.untilAnswered()
            time.advance(by: .seconds(6))
        }
        return await report
    }
}
