import LatchkeyCore
import Testing

@Suite(.timeLimit(.minutes(5))) struct LockedTests {
    private struct Refused: Error {}

    @Test func `concurrent additions are not lost`() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { count.withLock { $0 += 1 } } }
        }
        #expect(count.withLock { $0 } == 100)
    }

    @Test func `an error passes through and leaves it open`() {
        let value = Locked("a")
        #expect(throws: Refused.self) {
            try value.withLock { value in
                value = "b"
                throw Refused()
            }
        }
        #expect(value.withLock { $0 } == "b")
    }
}
