package import Foundation
import LatchkeyCore

/// Resources that this process must not leave behind: child processes, and temporary files such as key files and media in clear.
///
/// Register a resource before creating it, and remove it from the list after it is gone. When a signal ends the process, everything in
/// the list is removed. There is only one list, because a signal ends the whole process. Safe to use from any thread.
package enum Leftovers {
    private struct State {
        var paths: Set<String> = []
        var children: Set<pid_t> = []
        var isClosed = false
    }

    private static let state = Locked(State())

    /// Registers a file or a folder before it is created.
    /// - Throws: `CancellationError` after `removeAll()`.
    package static func add(_ path: String) throws {
        try state.withLock { state in
            guard !state.isClosed else { throw CancellationError() }
            state.paths.insert(path)
        }
    }

    /// Removes a file or a folder from the list, because it is deleted or may stay.
    package static func forget(_ path: String) { state.withLock { _ = $0.paths.remove(path) } }

    /// Starts a program and registers it.
    /// - Throws: `CancellationError` after `removeAll()`; the errors of the closure.
    package static func start(_ spawn: () throws -> pid_t) throws -> pid_t {
        try state.withLock { state in
            guard !state.isClosed else { throw CancellationError() }
            let process = try spawn()
            state.children.insert(process)
            return process
        }
    }

    /// Removes an ended program from the list.
    /// - Parameter collect: releases the process number. No other program can have it before.
    package static func ended(_ process: pid_t, collect: () -> Void = {}) {
        state.withLock { state in
            state.children.remove(process)
            collect()
        }
    }

    /// Ends the programs, waits briefly for them, and removes the files. Afterwards nothing can be registered. Blocks.
    package static func removeAll() {
        state.withLock { state in
            state.isClosed = true
            for process in state.children { kill(process, SIGKILL) }
        }
        // Each program has a thread that waits for it. After its end it writes no files.
        for _ in 0..<200 where state.withLock({ !$0.children.isEmpty }) { usleep(5_000) }
        for path in state.withLock({ $0.paths }) { remove(path) }
    }

    /// - Throws: `CancellationError` after `removeAll()`.
    static func checkOpen() throws {
        if state.withLock({ $0.isClosed }) { throw CancellationError() }
    }

    /// Retries, because another thread may still be writing into a folder.
    private static func remove(_ path: String) {
        for _ in 0..<50 {
            try? FileManager.default.removeItem(atPath: path)
            if access(path, F_OK) != 0 { return forget(path) }
            usleep(10_000)
        }
    }
}

/// A temporary folder of this process for media and keys. It is removed with the last reference, and when a signal ends the
/// process.
package final class WorkingFolder: Sendable {
    /// The folder's URL. The folder may not exist yet.
    package let url: URL

    /// Chooses a path. The first writer makes the folder.
    /// - Throws: `CancellationError` while the process ends.
    package init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent("latchkey-\(UUID().uuidString.lowercased())", isDirectory: true)
        try Leftovers.add(url.path)
    }

    deinit { remove() }

    /// Removes the folder now.
    package func remove() {
        try? FileManager.default.removeItem(at: url)
        Leftovers.forget(url.path)
    }
}
