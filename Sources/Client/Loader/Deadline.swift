import LatchkeyCore

/// Runs a body against a deadline and returns at the deadline even if the body does not notice its cancellation.
///
/// A task group would wait for the body; the app's credentials closure or the player's SPC maker may never return.
/// The abandoned body's task is cancelled and ends when its code does.
func withDeadline<Value: Sendable>(
    _ limit: Duration, _ timekeeper: any Timekeeper, expired: @escaping @Sendable () -> any Error,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    // The tasks below do not inherit a cancellation, and would begin before it is passed on.
    try Task.checkCancellation()
    guard limit > .zero else { throw expired() }
    let race = Race<Value>()
    race.add(startTask { race.end(await Result { try await body() }) })
    race.add(
        startTask {
            guard (try? await timekeeper.sleep(for: limit)) != nil else { return }
            race.end(.failure(expired()))
        })
    return try await race.winner()
}

/// The first of several tasks to end; the others are cancelled.
private final class Race<Value: Sendable>: Sendable {
    private struct State {
        var tasks: [Task<Void, Never>] = []
        var result: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Locked(State())

    func add(_ task: Task<Void, Never>) {
        let isOver = state.withLock { state in
            state.tasks.append(task)
            return state.result != nil
        }
        if isOver { task.cancel() }
    }

    func end(_ result: Result<Value, any Error>) {
        let (waiter, tasks) = state.withLock { state -> (CheckedContinuation<Value, any Error>?, [Task<Void, Never>]) in
            guard state.result == nil else { return (nil, []) }
            state.result = result
            defer { state.waiter = nil }
            return (state.waiter, state.tasks)
        }
        // In this order, so that what is given up sends nothing more once its caller goes on.
        for task in tasks { task.cancel() }
        waiter?.resume(with: result)
    }

    func winner() async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let result = state.withLock { state in
                    if state.result == nil { state.waiter = waiter }
                    return state.result
                }
                if let result { waiter.resume(with: result) }
            }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }
}

extension Result where Failure == any Error, Success: Sendable {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
