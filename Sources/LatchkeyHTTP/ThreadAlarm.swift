import CSockets
import Foundation

/// Wakes a thread that sleeps.
package final class ThreadAlarm: Sendable {
    /// Readable from `ring` until `sleep` returns.
    let descriptor: Int32

    /// - Returns: `nil` if the process may not open another file.
    package init?() {
        descriptor = latchkey_alarm()
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Wakes the thread, or keeps it from falling asleep. Any thread may call it.
    package func ring() { latchkey_alarm_ring(descriptor) }

    /// Sleeps until `ring` is called, or another descriptor is readable.
    /// - Parameters:
    ///   - other: the other descriptor, if any.
    ///   - milliseconds: the longest sleep; negative for no limit.
    func sleep(besides other: Int32?, milliseconds: Int32) {
        latchkey_alarm_wait(descriptor, other ?? -1, milliseconds)
    }
}
