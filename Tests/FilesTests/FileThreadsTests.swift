import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct FileThreadsTests {
    private struct Wrong: Error {}

    private static func waitForSleeper(_ clock: ManualTimekeeper, _ count: Int = 1) async {
        while clock.sleeperCount < count, !Task.isCancelled { await Task.yield() }
    }

    @Test func `work runs outside Swift's task threads, and its errors are returned`() async throws {
        let threads = FileThreads()
        let isInTask = try await threads.run("a") { withUnsafeCurrentTask { $0 != nil } }
        #expect(!isInTask)
        await #expect(throws: Wrong.self) { try await threads.run("c") { throw Wrong() } }
    }

    @Test func `work that takes too long is abandoned, and the file that hangs is named`() async throws {
        let (clock, door, arrived) = (ManualTimekeeper(), DispatchSemaphore(value: 0), Gate())
        let threads = FileThreads(timekeeper: clock)
        let work = Task {
            try await threads.run("the configuration") {
                FileThreads.visits("/mnt/first")
                FileThreads.visits("/mnt/second")
                Task { await arrived.wait() }
                door.wait()
            }
        }
        await arrived.untilSomeoneArrives()
        await Self.waitForSleeper(clock)
        clock.advance(by: FileThreads.usualLimit)
        let error = await #expect(throws: FileError.self) { try await work.value }
        #expect(error?.code == "fileHangs")
        #expect(error?.reason == "/mnt/second cannot be read: the system returned nothing for 5 s.")
        door.signal()
    }

    @Test func `while too many hang, more is refused, and later accepted`() async throws {
        let (clock, door) = (ManualTimekeeper(), DispatchSemaphore(value: 0))
        let threads = FileThreads(most: 2, timekeeper: clock)
        let hanging = (0..<2).map { number in Task { try await threads.run("\(number)") { door.wait() } } }
        await Self.waitForSleeper(clock, 2)
        clock.advance(by: .seconds(5))
        for work in hanging { await #expect(throws: FileError.self) { try await work.value } }
        let error = await #expect(throws: FileError.self) { try await threads.run("third") {} }
        #expect(error?.reason.hasPrefix("third is not read: 2 earlier reads are still running") == true)
        for _ in 0..<2 { door.signal() }
        while (try? await threads.run("fourth") {}) == nil { try Task.checkCancellation() }
    }

    @Test func `an end abandons current work and starts none`() async throws {
        let (door, arrived) = (DispatchSemaphore(value: 0), Gate())
        let threads = FileThreads(timekeeper: ManualTimekeeper())
        let work = Task {
            try await threads.run("a") {
                Task { await arrived.wait() }
                door.wait()
            }
        }
        await arrived.untilSomeoneArrives()
        threads.end()
        await #expect(throws: CancellationError.self) { try await work.value }
        await #expect(throws: CancellationError.self) { try await threads.run("b") {} }
        door.signal()
    }

    @Test func `a cancelled waiter waits no longer`() async throws {
        let (door, arrived) = (DispatchSemaphore(value: 0), Gate())
        let threads = FileThreads(timekeeper: ManualTimekeeper())
        let work = Task {
            try await threads.run("a") {
                Task { await arrived.wait() }
                door.wait()
            }
        }
        await arrived.untilSomeoneArrives()
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        door.signal()
    }
}
