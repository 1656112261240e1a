import LatchkeyCore

/// Runs work items one by one, in the order in which they were added.
///
/// An actor would start the next item while one waits for the store.
final class SerialTasks: Sendable {
    private let last = Locked<Task<Void, Never>?>(nil)

    /// Adds work. It is never cancelled: a key that was updated is stored even if no caller waits for it.
    func add(_ work: @escaping @Sendable () async -> Void) {
        last.withLock { last in
            last = startTask { [previous = last] in
                await previous?.value
                await work()
            }
        }
    }

    /// Adds work and waits for its result.
    func result<Value: Sendable, Failure: Error>(
        of work: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Value, Failure>, Never>) in
            add {
                do throws(Failure) {
                    continuation.resume(returning: .success(try await work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
