/// Work that the threads which read and write do between two rounds of reading and writing, so that a request does not change threads.
///
/// `HTTPServer` calls `join` and `leave` on each of these threads; between them it calls the other functions there.
package protocol ThreadWork: Sendable {
    /// How many threads shall do the work, at least 1.
    var threads: Int { get }
    /// The calling thread does the work from now on.
    func join()
    /// The calling thread does the work no more.
    func leave()
    /// The next piece of work; `nil` if none waits. Never waits for one.
    func take() -> (@Sendable () -> Void)?
    /// The calling thread is about to sleep.
    /// - Parameter alarm: what wakes it when there is work.
    /// - Returns: `false`, and nothing is kept, if work waits.
    func rest(_ alarm: ThreadAlarm) -> Bool
    /// The calling thread sleeps no more.
    func rise(_ alarm: ThreadAlarm)
    /// Wakes a thread that sleeps, if any.
    func wakeOne()
}
