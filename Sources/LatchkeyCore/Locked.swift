package import Foundation

/// A value behind a lock.
///
/// Replaces `Synchronization.Mutex`, which needs iOS 18. Keep the work under the lock short, and never wait in it.
// Sound because `value` is touched only between `lock` and `unlock`; the loader's tests run under the thread sanitizer.
package final class Locked<Value>: @unchecked Sendable {
    // A pointer, because the lock ensures the exclusive access that a stored property checks again at each call.
    @usableFromInline let value: UnsafeMutablePointer<Value>
    @usableFromInline let lock = NSLock()

    package init(_ value: sending Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs a body with exclusive access to the value.
    @inlinable package func withLock<Result>(_ body: (inout Value) throws -> sending Result) rethrows -> sending Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value.pointee)
    }
}
