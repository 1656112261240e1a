/// How the library starts a task that nobody waits for.
///
/// A task that is started so inherits no executor, so a simulation that runs everything on its own says here how to start one.
package enum TaskStart {
    /// Starts an operation as a task.
    package typealias Starter = @Sendable (_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never>

    /// What starts the tasks of the current task and of those that it starts; the standard library's unless given.
    @TaskLocal package static var starter: Starter?
}

/// Starts a task that nobody waits for.
@discardableResult
package func startTask(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    TaskStart.starter.map { $0(operation) } ?? Task(operation: operation)
}
