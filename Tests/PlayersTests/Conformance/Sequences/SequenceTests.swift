import Foundation
import LatchkeyCore
import LatchkeySimulation
import Testing

/// Whatever an app does, playing titles keep their keys until two leases after its last move; nothing else does; and each loss is reported.
@Suite(.serialized, .timeLimit(.minutes(20))) struct SequenceTests {
    /// A sequence in an adapter.
    struct Case: Sendable, CustomTestStringConvertible {
        let sequence: PlaybackSequence
        let adapter: SequencePlayer

        var testDescription: String { "\(adapter.name): \(sequence.name)" }

        static let all = SequencePlayer.all.flatMap { adapter in
            PlaybackSequence.all.filter { $0.kinds.isSubset(of: adapter.kinds) }.map {
                Case(sequence: $0, adapter: adapter)
            }
        }
    }

    /// Random walks for each adapter: the number in `LATCHKEY_WALKS`, or four.
    static let walks =
        (ProcessInfo.processInfo.environment["LATCHKEY_WALKS"].flatMap(Int.init) ?? 4) * SequencePlayer.all.count

    @Test(arguments: Case.all)
    func `two leases after a sequence only the playing assets have their keys`(_ item: Case) async throws {
        let sequence = item.sequence
        try await SequenceRun.run(
            sequence.moves, on: item.adapter, terms: sequence.terms, for: sequence.profile, losing: sequence.losses)
    }

    @Test func `each adapter has sequences, and there are enough`() {
        #expect(PlaybackSequence.all.count >= 25)
        #expect(Set(PlaybackSequence.all.map(\.name)).count == PlaybackSequence.all.count)
        for adapter in SequencePlayer.all { #expect(Case.all.count { $0.adapter.name == adapter.name } >= 10) }
    }

    @Test(arguments: 0..<walks)
    func `a random walk also loses nothing`(seed: Int) async throws {
        let adapter = SequencePlayer.all[seed % SequencePlayer.all.count]
        var generator = SeededGenerator(seed: UInt64(seed))
        let moves = (0..<12).map { _ in Move.random(adapter.kinds, using: &generator) }
        try await SequenceRun.run(moves, on: adapter, losing: nil)
    }
}

extension Move {
    /// A move that an adapter can make at any time, and after which everything that plays must have its keys.
    static func random(_ kinds: Set<Kind>, using generator: inout SeededGenerator) -> Move {
        let titles: [Title] = [.a, .b, .mirrorOfA, .unnamedA, .rotating]
        let (title, player) = (titles.randomElement(using: &generator) ?? .a, Int.random(in: 0...2, using: &generator))
        let moves: [Move] = [
            .play(title, player), .play(title, player), .play(title, player), .overlap(title, player), .stop(player),
            .drop(player), .abandon(title, player), .preload(title), .preloadKeys(title), .suspend(player),
            .resume(player),
            .pass(Int.random(in: 1...14, using: &generator) * 50),
            .away(Int.random(in: 1...14, using: &generator) * 100),
            .reset, .renewEndedKeys,
        ].filter { kinds.contains($0.kind) }
        return moves.randomElement(using: &generator) ?? .play(title, player)
    }
}
