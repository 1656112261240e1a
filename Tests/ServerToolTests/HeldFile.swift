import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting

/// Holds up the thread that reads a file, as a stalled mount does, until the test lets it go.
final class HeldFile: Sendable {
    private let name: String
    private let holds = Locked(false)
    private let held = Promise<Void, Never>()
    private let times = Locked(0)
    private let requestLimit = DispatchSemaphore(value: 0)

    /// - Parameter name: the end of the file's or folder's path.
    init(_ name: String) { self.name = name }

    /// For `FileThreads`.
    var opening: @Sendable (String) -> Void {
        { [self] path in
            guard path.hasSuffix(name),
                holds.withLock({ holds in
                    defer { holds = false }
                    return holds
                })
            else { return }
            times.withLock { $0 += 1 }
            held.resolve(.success(()))
            requestLimit.wait()
        }
    }

    /// Holds up the next caller that opens the file.
    func holdsNext() { holds.withLock { $0 = true } }

    /// How often a caller was held up.
    var timesHeld: Int { times.withLock { $0 } }

    /// Waits until a caller is held up.
    func untilHeld() async {
        await withCheckedContinuation { waiter in held.whenResolved { _ in waiter.resume() } }
    }

    func letGo() { requestLimit.signal() }
}
