/// Work that the threads of a server do between two rounds of reading and writing, so that a request does not change threads.
///
/// A piece of work does not wait for another one: the thread that adds a piece while none waits takes it itself, after its own.
///
/// `HTTPServer` calls `join` and `leave` on each of these threads; between them it calls the other functions there.
package protocol ThreadWork: Sendable {
    /// How many threads shall do the work, at least 1.
    var threads: Int { get }
    /// The calling thread does the work from now on.
    func join()
    /// The calling thread no longer does the work.
    func leave()
    /// The next piece of work; `nil` if none waits. Never waits for one.
    func take() -> (@Sendable () -> Void)?
    /// The calling thread is about to sleep.
    /// - Parameter alarm: wakes it when there is work.
    /// - Returns: `false`, and nothing is kept, if work waits.
    func rest(_ alarm: ThreadAlarm) -> Bool
    /// The calling thread no longer sleeps.
    func rise(_ alarm: ThreadAlarm)
}
