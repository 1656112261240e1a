import AVFoundation
import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

@_spi(Adapters) @testable import Latchkey

/// An app with several players on one loader.
protocol SequenceApp: AnyObject, Sendable {
    /// Whether it waits for licenses that it renews itself.
    var isRenewing: Bool { get }
    /// Begins to play a title instead of a player's current one.
    /// - Parameter overlaps: Whether the title is protected before the last one is released.
    func play(_ title: Title, at player: Int, overlaps: Bool) async throws -> Playing
    /// Ends a player's playback.
    func stop(_ player: Int) async
    /// Forgets a player.
    func drop(_ player: Int) async
    /// Stops the renewals of a player. Returns the other players for which it stopped them, too.
    func suspend(_ player: Int) async -> Set<Int>
    func resume(_ player: Int) async -> Set<Int>
    /// Does anything else, and returns the new playbacks.
    func perform(_ move: Move) async throws -> [Int: Playing]
}

extension SequenceApp {
    nonisolated var isRenewing: Bool { false }
    func drop(_ player: Int) async {}
    func suspend(_ player: Int) async -> Set<Int> { [] }
    func resume(_ player: Int) async -> Set<Int> { [] }
    func perform(_ move: Move) async throws -> [Int: Playing] { [:] }
}

/// A playback that begins in a player.
struct Playing: Sendable {
    let finished: @Sendable () async throws -> StandInPlayback.Result
    let keys: PlayingKeys
}

/// The keys of a player's playback. Holds none of it.
struct PlayingKeys: Sendable {
    /// The keys that decrypt, for so much longer.
    let usable: @Sendable (Duration) -> Set<String>
    /// The key session; `nil` for players that show none.
    var session: @Sendable () -> AVContentKeySession? = { nil }
}

/// The setup of a sequence's app.
struct SequenceSetup: Sendable {
    let stage: PlayerStage
    let loader: ContentKeyLoader
    let profile: VendorProfile
    let failures: FailureLog
    var service: WatchedService { stage.service(for: profile) }

    func url(_ title: Title) -> URL {
        let url = stage.playlist(title.stream, for: profile)
        return URL(string: url.absoluteString + title.mirror) ?? url
    }
}

/// Runs a sequence, and judges it.
///
/// While time passes, playing titles must have valid keys, unless a loss was reported. At the end, nothing else may have a key
/// that lives.
struct SequenceRun {
    private struct Player {
        let keys: PlayingKeys
        let needs: Set<String>
        /// How many failures came before it, or before its keys were asked for again.
        var failures: Int
        /// Whether a due renewal has not arrived, because licenses are refused.
        var isSick = false
        var isLost = false
    }

    static let lease = Duration.seconds(600)
    private static let step = Duration.seconds(50)
    /// Renewals come after three quarters of a lease, so more than this is always left of it.
    private static let reserve = Duration.seconds(150)

    private let setup: SequenceSetup
    private let adapter: SequencePlayer
    private let app: any SequenceApp
    private var players: [Int: Player] = [:]
    private var suspended: Set<Int> = []
    private var left: [PlayingKeys] = []
    private var isRefusing = false
    private var mayFail = false
    private var history: [Move] = []

    /// The players whose keys were lost.
    var losses: Set<Int> { Set(players.filter(\.value.isLost).keys) }

    private init(_ setup: SequenceSetup, _ adapter: SequencePlayer) async throws {
        self.setup = setup
        self.adapter = adapter
        app = try await adapter.make(setup)
    }

    /// Runs moves, and two leases more.
    static func run(
        _ moves: [Move], on adapter: SequencePlayer, terms: LicenseTerms = LicenseTerms(.lease(lease)),
        for profile: VendorProfile = .home, losing losses: Set<Int>? = []
    ) async throws {
        try await PlayerStage.with(terms: terms) { stage in
            let isStored = terms.isPersistable
            let setup = SequenceSetup(
                stage: stage,
                loader: stage.loader(
                    profile, store: isStored ? MemoryKeyStore() : nil,
                    // A player that cannot renew is given so long to do it before a loss in its absence is reported.
                    deadline: adapter.renews ? .seconds(900) : step - .seconds(10), lease: isStored ? nil : lease),
                profile: profile, failures: FailureLog())
            var run = try await SequenceRun(setup, adapter)
            for move in moves { try await run.perform(move) }
            try await run.end(expecting: losses, isLeased: !isStored)
            setup.loader.cancel()
        }
    }

    private mutating func perform(_ move: Move) async throws {
        history.append(move)
        switch move {
        case .play(let title, let player):
            try await play(player) { try await $0.play(title, at: player, overlaps: false) }
        case .overlap(let title, let player):
            try await play(player) { try await $0.play(title, at: player, overlaps: true) }
        case .again(let player):
            // The previous item has the same asset, and so the same keys.
            players[player] = nil
            try await play(player) { try await $0.perform(move)[player] }
        case .queue(_, let player), .loop(_, let player), .interstitial(_, _, let player):
            try await play(player) { try await $0.perform(move)[player] }
        case .abandon(let title, let player): await abandon(title, player)
        case .stop(let player):
            leave(player)
            await app.stop(player)
        case .drop(let player):
            players[player] = nil
            await app.drop(player)
        case .suspend(let player): suspended.formUnion(await app.suspend(player))
        case .resume(let player):
            suspended.subtract(await app.resume(player))
            await settle()
        case .pass(let seconds): await pass(.seconds(seconds))
        case .away(let seconds): await spendAway(.seconds(seconds))
        case .airPlay: setup.stage.stage.behavior.misbehaviors.insert(.switchesToAirPlay)
        case .refuse:
            (isRefusing, mayFail) = (true, true)
            setup.service.faults.set(.status(403), at: .license)
        case .allow:
            isRefusing = false
            setup.service.faults.clear()
        case .reset:
            mayFail = true
            setup.stage.stage.resetMediaServices()
            for (player, playing) in try await app.perform(move) { try await play(player) { _ in playing } }
        case .replaceSession:
            for player in Array(players.keys) { leave(player) }
            _ = try await app.perform(move)
        case .renewEndedKeys:
            _ = try await app.perform(move)
            for player in players.keys {
                players[player]?.isLost = false
                players[player]?.isSick = false
                players[player]?.failures = setup.failures.all.count
            }
            await settle()
        case .preload, .preloadKeys, .store: _ = try await app.perform(move)
        }
        await beQuiet()
    }

    // MARK: Moves

    private mutating func play(_ number: Int, _ begin: (any SequenceApp) async throws -> Playing?) async throws {
        leave(number)
        let failures = setup.failures.all.count
        do {
            let begun = try await begin(app)
            let playing = try #require(begun)
            let result = try await playing.finished()
            #expect(result.isRight, "\(history)")
            players[number] = Player(
                keys: playing.keys, needs: Set(result.keyURIs.map(\.raw)), failures: failures)
        } catch {
            // Otherwise the error is the test's.
            guard isRefusing else { throw SequenceError(history: history, cause: "\(error)") }
            await until { setup.failures.all.count > failures }
            expect(setup.failures.all.count > failures, "a refusal is reported")
        }
    }

    private mutating func abandon(_ title: Title, _ number: Int) async {
        leave(number)
        // Such a player gives up a request silently. Its requests after the release belong to no title, and end with their lease.
        if adapter.renewsItself { mayFail = true }
        let (service, app, isOver) = (setup.service, app, Locked(false))
        let licenses = service.licenses
        service.hold()
        let playing = Task {
            defer { isOver.withLock { $0 = true } }
            _ = try await app.play(title, at: number, overlaps: false).finished()
        }
        await until { service.licenses > licenses || isOver.withLock { $0 } }
        await app.stop(number)
        service.open()
        _ = await playing.result
    }

    /// Forgets a player's title.
    private mutating func leave(_ number: Int) {
        if let player = players.removeValue(forKey: number), player.keys.session() == nil { left.append(player.keys) }
    }

    // MARK: Time

    private mutating func pass(_ duration: Duration) async {
        let end = setup.stage.time.uptime + duration
        while setup.stage.time.uptime < end {
            let isAnybodyDue = setup.stage.time.advance(by: Self.step) > 0
            if isAnybodyDue { await beQuiet() }
            await settle()
        }
    }

    private mutating func spendAway(_ duration: Duration) async {
        for player in players.keys { _ = await app.suspend(player) }
        setup.stage.time.advance(by: duration)
        for player in players.keys where !suspended.contains(player) { suspended.subtract(await app.resume(player)) }
        // Everything comes due at the same time, and the player's own timers, too.
        await beQuiet(for: 5_000)
        await pass(Self.step)
    }

    /// Waits until the keys of the playing titles are renewed, or their loss was reported.
    private mutating func settle() async {
        for (number, player) in players where !player.isLost && !suspended.contains(number) {
            let isTolerated = isRefusing || player.isSick || !adapter.renews
            await until {
                hasKeys(player, for: Self.reserve) || isTolerated && hasKeys(player)
                    || isReported(player) && isTolerated
            }
            let (isSick, isLost) = (isTolerated && !hasKeys(player, for: Self.reserve), !hasKeys(player))
            players[number]?.isSick = isSick
            players[number]?.isLost = isLost
            expect(hasKeys(player, for: Self.reserve) || isTolerated, "player \(number) has its keys renewed")
            expect(hasKeys(player) || isReported(player), "player \(number) loses no key without a report")
        }
    }

    private func hasKeys(_ player: Player, for duration: Duration = .zero) -> Bool {
        player.keys.usable(duration).isSuperset(of: player.needs)
    }

    private func isReported(_ player: Player) -> Bool {
        setup.failures.all.dropFirst(player.failures).contains { failure in
            failure.endsKey && failure.key.map { player.needs.contains($0.raw) } ?? true
        }
    }

    /// Whether a request is under way.
    private var isAsking: Bool {
        setup.service.isAnswering || setup.loader.caller.limiter.activityCount > 0
            || setup.loader.requests.states.contains { state in
                switch state {
                case .pending, .stopping, .renewing: true
                case .held, .renewalDue, .ended: false
                }
            }
    }

    /// Whether the player or its app is to renew a key, which it may not do.
    private var isRenewing: Bool {
        app.isRenewing
            || adapter.renews
                && setup.loader.requests.states.contains { if case .renewalDue = $0 { true } else { false } }
    }

    /// Waits until no request is under way or waiting. Newly due work, and the work after a reply, passes a few tasks and
    /// queues, each of which a busy machine may delay: this passes many more of them.
    private func beQuiet(for wanted: Int = 1_000) async {
        var (turns, patience) = (0, 5_000)
        while turns < wanted, !Task.isCancelled {
            await passTurn()
            let isRenewing = isRenewing && patience > 0
            if isRenewing { patience -= 1 }
            turns = isAsking || isRenewing ? 0 : turns + 1
            // Lets other threads run first where there are more of them than cores.
            if turns % 250 == 0 { sched_yield() }
        }
    }

    /// In a correct run it waits for the work under way; otherwise it gives up.
    private func until(_ condition: () -> Bool) async {
        var patience = 50_000
        while patience > 0, !condition(), !Task.isCancelled {
            patience -= 1
            await passTurn()
        }
    }

    // MARK: The verdict

    private mutating func end(expecting expected: Set<Int>?, isLeased: Bool) async throws {
        let licenses = setup.service.licenses
        await pass(Self.lease * 2)
        let users = players.filter { (adapter.renewsItself || !suspended.contains($0.key)) && !$0.value.isLost }
        if let expected, !adapter.renewsItself || !mayFail {
            let isLosing = adapter.renews || !isLeased
            expect(losses == (isLosing ? expected : Set(players.keys)), "it loses the keys of \(losses)")
        }
        if !mayFail, adapter.renews { expect(setup.failures.all.isEmpty, "it fails: \(setup.failures.codes)") }
        if !mayFail {
            // A player may also have taken keys that were preloaded for whatever plays next.
            let most = isLeased ? 3 * users.values.map { $0.keys.usable(.zero).count }.reduce(0, +) : 0
            expect(
                setup.service.licenses - licenses <= most, "\(setup.service.licenses - licenses) renewals, not \(most)")
        }
        if isLeased {
            let sessions = users.values.compactMap { $0.keys.session() }
            for session in setup.stage.stage.keySessions where !sessions.contains(where: { $0 === session }) {
                expect(session.standIn.usableKeys.isEmpty, "a key without a user is renewed")
            }
            for keys in left { expect(keys.usable(.zero).isEmpty, "a key that plays no more is renewed") }
        }
        expect(setup.stage.log.violations.isEmpty, "\(setup.stage.log.violations.first.debugDescription)")
    }

    private func expect(_ isTrue: Bool, _ what: String) {
        if !isTrue {
            Issue.record("\(adapter.name): not so that \(what), after \(history) at \(setup.stage.time.uptime)")
        }
    }
}

extension KeyFailure {
    /// Whether a key that plays is lost with it. A refused renewal ends none: another may follow.
    fileprivate var endsKey: Bool {
        guard let loaderError else { return true }
        return loaderError.kind == .leaseEnded || [.setup, .heartbeat].contains(loaderError.stage)
    }
}

struct SequenceError: Error {
    let history: [Move]
    let cause: String
}
