import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@_spi(Adapters) @testable import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Every wait of a test with `LatchkeyTesting` ends with the test's time limit, which cancels.
@Suite(.timeLimit(.minutes(1))) struct CancelledWaitTests {
    /// The waits of the product, none of which anything ends.
    enum Wait: CaseIterable {
        case answer, storedAnswer, hold, storedHold, request, sleeper, exactSleeper, arrival

        func begin() async {
            switch self {
            case .answer: _ = await FakeKeyRequest(key).firstAnswer()
            case .storedAnswer: _ = await FakePersistableRequest(key).firstAnswer()
            case .hold: await FakeKeyRequest(key).untilSystemHolds()
            case .storedHold: await FakePersistableRequest(key).untilSystemHolds()
            case .request: await FakeTransport(get: [], post: []).untilRequested()
            case .sleeper: await ManualTimekeeper().untilSomeoneSleeps()
            case .exactSleeper: await ManualTimekeeper().untilSomeoneSleeps(for: .seconds(1))
            case .arrival: await Gate().untilSomeoneArrives()
            }
        }
    }

    @Test(arguments: Wait.allCases) func `a wait ends when its task is cancelled`(_ wait: Wait) async {
        let task = Task { await wait.begin() }
        await Task.yield()
        task.cancel()
        await task.value
    }

    @Test(arguments: Wait.allCases) func `a task that is already cancelled does not wait`(_ wait: Wait) async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await wait.begin()
        }
        await task.value
    }

    @Test func `an answer that can no longer come is cancelled`() async {
        let request = FakeKeyRequest(key)
        let task = Task { await request.firstAnswer() }
        task.cancel()
        #expect(await task.value.error?.kind == .cancelled)
        request.answer(.success(SampleBytes.ckc()))
        #expect(await request.firstAnswer().error == nil)
    }

    @Test func `an existing answer is given to a cancelled task too`() async {
        let request = FakeKeyRequest(key)
        request.answer(.success(SampleBytes.ckc()))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await request.firstAnswer()
        }
        #expect(await task.value.error == nil)
    }

    @Test func `other waiters keep waiting`() async {
        let transport = FakeTransport(get: [.certificate], post: [])
        let (one, other) = (Task { await transport.untilRequested() }, Task { await transport.untilRequested() })
        one.cancel()
        await one.value
        _ = try? await transport.send(URLRequest(url: URL(filePath: "/")), bodyLimit: 10_000)
        await other.value
        #expect(transport.requests.count == 1)
    }

    @Test func `a simulation that waits for outside work is given up`() async {
        let (time, hasBegun) = (VirtualTime(), Gate())
        let task = Task {
            try await time.run {
                _ = time.hold()
                hasBegun.open()
                await Gate().wait()
            }
        }
        await hasBegun.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a cancelled task does not wait for the disk, and the key is still stored`() async throws {
        let folder = try TemporaryFolder()
        let (opened, begun) = (DispatchSemaphore(value: 0), Gate())
        let store = FileKeyStore(folder: folder.url) { step in
            guard case .write = step else { return }
            begun.open()
            opened.wait()
        }
        let item = StoredItem.index
        let task = Task { try await store.write(Secret("bytes"), to: item) }
        await begun.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        opened.signal()
        #expect(try await store.bytes(of: item)?.revealedText == "bytes")
    }
}
