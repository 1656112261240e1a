import Foundation
import LatchkeyCore

/// A server under attack, with honest clients at the same time.
struct AttackRun: Sendable {
    /// A request of an honest client.
    struct Honest: Sendable {
        let port: UInt16
        /// The whole request.
        let bytes: Data
    }

    /// The counts of a run.
    struct Tally: Sendable {
        var attacks = 0
        /// Honest requests that were answered with 200.
        var answers = 0
        /// The others' statuses; 0 for no reply.
        var failures: [Int] = []
        /// The longest that an honest client waited, in seconds.
        var slowest = 0.0
        /// The server's resident memory after each round, in bytes.
        var memory: [Int] = []

        /// Whether the memory levels off. The last two of a script's rounds may add a tenth, the short round of a test 64 MiB. A script of less
        /// than five minutes ends before the memory of a server that keeps its record there is warm: each request may add 4 KiB.
        func levelsOff(isBrief: Bool = AttackTime.isBrief) -> Bool {
            guard let first = memory.first, let last = memory.last else { return false }
            guard memory.count > 4 else { return last < first + 64 << 20 }
            return isBrief ? last - first <= (attacks + answers) * 4_096 : last <= memory[memory.count - 3] / 10 * 11
        }
    }

    private let surface: AttackSurface
    private let honest: [Honest]
    private let tally = Locked(Tally())

    /// The least attacks of an attacker, and requests of an honest client, in a round.
    private static let least = 40

    init(_ surface: AttackSurface, honest: [Honest]) {
        self.surface = surface
        self.honest = honest
    }

    /// Attacks: some rounds, or the number of seconds of `Scripts/attack`.
    func run(on process: ServingProcess) async -> Tally {
        // One request in advance, so that the memory of a first request does not count as growth.
        for request in honest { _ = Self.status(of: request, from: "127.0.1.1") }
        for round in 1...AttackTime.rounds {
            await attack(until: AttackTime.endOfRound(), round)
            let (bytes, most) = (process.residentBytes ?? 0, process.mostResidentBytes ?? 0)
            tally.withLock { $0.memory.append(bytes) }
            AttackTime.report("round \(round): memory \(bytes >> 20) MiB, at most \(most >> 20) MiB so far")
        }
        let seen = tally.withLock { $0 }
        AttackTime.report(
            "\(seen.attacks) attacks; honest: \(seen.answers) answered, \(seen.failures.count) not, "
                + "slowest \(seen.slowest) s; the memory \(seen.levelsOff() ? "levels off" : "grows")")
        return seen
    }

    /// Four attackers and two honest clients, each on its own thread. One honest client has the attackers' address, the other is of
    /// another network.
    private func attack(until end: ContinuousClock.Instant, _ round: Int) async {
        await withTaskGroup { group in
            for seed in 0..<4 as Range<UInt64> {
                group.addTask {
                    let mix = Locked(AttackMix(surface, seed: UInt64(round) * 4 + seed))
                    await Self.onThread(until: end) { _ in
                        mix.withLock { $0.next() }
                        tally.withLock { $0.attacks += 1 }
                    }
                }
            }
            for source in ["127.0.0.1", "127.0.1.2"] {
                group.addTask { await Self.onThread(until: end) { ask(honest[$0 % honest.count], from: source) } }
            }
        }
    }

    /// Sends a request, and again if the connection ends without a reply, as our own client does: the server may have no place left
    /// at the moment of connecting.
    private func ask(_ request: Honest, from source: String) {
        let start = ContinuousClock.now
        let status = Self.status(of: request, from: source) ?? Self.status(of: request, from: source)
        let time = start.duration(to: .now).inSeconds
        tally.withLock { tally in
            if status == 200 { tally.answers += 1 } else { tally.failures.append(status ?? 0) }
            tally.slowest = max(tally.slowest, time)
        }
    }

    private static func onThread(until end: ContinuousClock.Instant, _ body: @escaping @Sendable (Int) -> Void) async {
        await withCheckedContinuation { done in
            let thread = Thread {
                var turn = 0
                while turn < least || ContinuousClock.now < end {
                    turn += 1
                    body(turn)
                }
                done.resume()
            }
            thread.start()
        }
    }

    private static func status(of request: Honest, from source: String) -> Int? {
        guard let socket = AttackSocket(port: request.port, from: source, patience: 20) else { return nil }
        socket.send(request.bytes)
        return socket.status()
    }
}
