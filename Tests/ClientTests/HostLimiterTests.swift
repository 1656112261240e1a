import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import Latchkey

@Suite(.timeLimit(.minutes(5))) struct HostLimiterTests {
    private static let activity = HostLimiter.Activity.building(.license, for: nil)
    private let limiter = HostLimiter(limit: 2)

    /// Tasks that each take a permit, in order, and note their number; negative if they are refused.
    private func line(_ count: Int, _ turns: Locked<[Int]>) async -> [Task<HostPermit?, Never>] {
        var tasks: [Task<HostPermit?, Never>] = []
        for number in 1...count {
            tasks.append(
                Task {
                    let permit = try? await limiter.permit(for: Self.activity)
                    turns.withLock { $0.append(permit == nil ? -number : number) }
                    return permit
                })
            while limiter.waiterCount(for: Self.activity) < number { await Task.yield() }
        }
        return tasks
    }

    @Test func `the first caller is served first`() async throws {
        let held = [try await limiter.permit(for: Self.activity), try await limiter.permit(for: Self.activity)]
        let turns = Locked<[Int]>([])
        let tasks = await line(5, turns)
        #expect(turns.withLock { $0 } == [])
        held[0].release()
        for task in tasks { await task.value?.release() }
        #expect(turns.withLock { $0 } == [1, 2, 3, 4, 5])
    }

    @Test func `a cancelled caller leaves the queue without a permit`() async throws {
        let held = [try await limiter.permit(for: Self.activity), try await limiter.permit(for: Self.activity)]
        let turns = Locked<[Int]>([])
        let tasks = await line(4, turns)
        for index in [0, 2] {
            tasks[index].cancel()
            #expect(await tasks[index].value == nil)
        }
        for permit in held { permit.release() }
        for index in [1, 3] { await tasks[index].value?.release() }
        #expect(Set(turns.withLock { $0 }) == [-1, -3, 2, 4])
        #expect(limiter.activityCount == 0)
    }

    @Test func `a task that is already cancelled gets no permit`() async {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await limiter.permit(for: Self.activity)
        }
        task.cancel()
        #expect(await (task.result.error as? ContentKeyError)?.code == "cancelled")
        #expect(limiter.activityCount == 0)
    }

    @Test func `a permit is returned once, and automatically when released`() async throws {
        let permit = try await limiter.permit(for: Self.activity)
        for _ in 1...3 { permit.release() }
        for _ in 1...5 { _ = try await limiter.permit(for: Self.activity) }
        #expect(limiter.activityCount == 0)
    }

    @Test func `activities do not block each other`() async throws {
        let limiter = HostLimiter(limit: 0)
        let one = try await limiter.permit(for: .building(.license, for: nil))
        let other = try await limiter.permit(for: .building(.lookup, for: nil))
        #expect(limiter.activityCount == 2)
        one.release()
        other.release()
    }

    @Test(arguments: 1...20) func `cancelling at random loses no permit`(seed: UInt64) async {
        var generator = SeededGenerator(seed: seed)
        let inside = Locked((now: 0, most: 0))
        let tasks = (0..<100).map { _ in
            let turns = Int.random(in: 0...20, using: &generator)
            return Task {
                guard let permit = try? await limiter.permit(for: Self.activity) else { return }
                inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                for _ in 0..<turns { await Task.yield() }
                inside.withLock { $0.now -= 1 }
                permit.release()
            }
        }
        for task in tasks.shuffled(using: &generator).prefix(50) {
            await Task.yield()
            task.cancel()
        }
        for task in tasks { await task.value }
        #expect(inside.withLock { $0.most } <= 2)
        #expect(limiter.activityCount == 0)
    }
}
