import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import Latchkey

@Suite(.timeLimit(.minutes(1))) struct HostQueueTests {
    private static let place = HostQueue.Place.making(.license, for: nil)
    private let queue = HostQueue(limit: 2)

    /// Tasks that take a slot each, in order, and note their number; who is refused notes its number below zero.
    private func line(_ count: Int, _ turns: Locked<[Int]>) async -> [Task<HostSlot?, Never>] {
        var tasks: [Task<HostSlot?, Never>] = []
        for number in 1...count {
            tasks.append(
                Task {
                    let slot = try? await queue.slot(at: Self.place)
                    turns.withLock { $0.append(slot == nil ? -number : number) }
                    return slot
                })
            while queue.waiterCount(at: Self.place) < number { await Task.yield() }
        }
        return tasks
    }

    @Test func `whoever comes first is served first`() async throws {
        let held = [try await queue.slot(at: Self.place), try await queue.slot(at: Self.place)]
        let turns = Locked<[Int]>([])
        let tasks = await line(5, turns)
        #expect(turns.withLock { $0 } == [])
        held[0].release()
        for task in tasks { await task.value?.release() }
        #expect(turns.withLock { $0 } == [1, 2, 3, 4, 5])
    }

    @Test func `who is cancelled leaves the line and keeps no slot`() async throws {
        let held = [try await queue.slot(at: Self.place), try await queue.slot(at: Self.place)]
        let turns = Locked<[Int]>([])
        let tasks = await line(4, turns)
        for index in [0, 2] {
            tasks[index].cancel()
            #expect(await tasks[index].value == nil)
        }
        for slot in held { slot.release() }
        for index in [1, 3] { await tasks[index].value?.release() }
        #expect(Set(turns.withLock { $0 }) == [-1, -3, 2, 4])
        #expect(queue.busyPlaces == 0)
    }

    @Test func `a task that was cancelled before gets no slot`() async {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await queue.slot(at: Self.place)
        }
        task.cancel()
        #expect(await (task.result.error as? ContentKeyError)?.code == "cancelled")
        #expect(queue.busyPlaces == 0)
    }

    @Test func `a slot is given back once, and by itself when it goes away`() async throws {
        let slot = try await queue.slot(at: Self.place)
        for _ in 1...3 { slot.release() }
        for _ in 1...5 { _ = try await queue.slot(at: Self.place) }
        #expect(queue.busyPlaces == 0)
    }

    @Test func `places do not wait for each other`() async throws {
        let queue = HostQueue(limit: 0)
        let one = try await queue.slot(at: .making(.license, for: nil))
        let other = try await queue.slot(at: .making(.lookup, for: nil))
        #expect(queue.busyPlaces == 2)
        one.release()
        other.release()
    }

    @Test(arguments: 1...20) func `cancelling at any moment loses no slot`(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        let inside = Locked((now: 0, most: 0))
        let tasks = (0..<100).map { _ in
            let turns = Int.random(in: 0...20, using: &generator)
            return Task {
                guard let slot = try? await queue.slot(at: Self.place) else { return }
                inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                for _ in 0..<turns { await Task.yield() }
                inside.withLock { $0.now -= 1 }
                slot.release()
            }
        }
        for task in tasks.shuffled(using: &generator).prefix(50) {
            await Task.yield()
            task.cancel()
        }
        for task in tasks { await task.value }
        #expect(inside.withLock { $0.most } <= 2)
        #expect(queue.busyPlaces == 0)
    }
}
