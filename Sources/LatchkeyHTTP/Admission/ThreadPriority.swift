import Foundation

/// How much of the processors a thread gets where there are more threads than processors.
package enum ThreadPriority: Sendable, Hashable {
    /// As much as any other.
    case usual
    /// About a thirtieth of the others' share; everything where no other thread wants it.
    case last

    /// How much nicer than the process: a step is a fifth to a quarter less of a processor.
    private static let steps: Int32 = 15

    /// Gives the calling thread its priority, permanently.
    func take() {
        guard self == .last else { return }
        #if os(Linux)
            // There, 0 names the calling thread.
            let thread = __priority_which_t(PRIO_PROCESS.rawValue)
            _ = setpriority(thread, 0, min(19, getpriority(thread, 0) + Self.steps))
        #else
            Thread.current.qualityOfService = .utility
        #endif
    }
}
