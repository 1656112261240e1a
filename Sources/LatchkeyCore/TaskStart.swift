/// Starts tasks that no caller waits for.
///
/// Such a task inherits no executor. A simulation that runs everything on its own executor therefore sets `starter`.
package enum TaskStart {
    /// Starts an operation as a task.
    package typealias Starter = @Sendable (_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never>

    /// Starts the tasks of the current task and of its child tasks. Defaults to the standard library's way.
    @TaskLocal package static var starter: Starter?
}

/// Starts a task that no caller waits for.
@discardableResult
package func startTask(_ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    TaskStart.starter.map { $0(operation) } ?? Task(operation: operation)
}
