package import Foundation

/// A value behind a lock.
///
/// Replaces `Synchronization.Mutex`, which needs iOS 18. Keep the work under the lock short, and never wait in it.
// Sound because `value` is touched only between `lock` and `unlock`; the loader's tests run under the thread sanitizer.
package final class Locked<Value>: @unchecked Sendable {
    @usableFromInline var value: Value
    @usableFromInline let lock = NSLock()

    package init(_ value: sending Value) { self.value = value }

    /// Runs a body with exclusive access to the value.
    @inlinable package func withLock<Result>(_ body: (inout Value) throws -> sending Result) rethrows -> sending Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
