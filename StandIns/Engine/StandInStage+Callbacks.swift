public import Dispatch
import Foundation
import LatchkeyCore

extension StandInStage {
    /// Makes a callback on the app's queue, watches that it returns, and notes it unless nobody was there to take it.
    /// - Parameters:
    ///   - name: what the log calls it.
    ///   - subject: what it is about.
    ///   - queue: the app's queue.
    ///   - callback: calls the delegate.
    ///   - afterwards: runs behind the note.
    public func deliver(
        _ name: String, about subject: String? = nil, on queue: DispatchQueue,
        _ callback: @escaping @Sendable () -> Void, afterwards: @escaping @Sendable (CallbackTaker) -> Void = { _ in }
    ) {
        run(on: queue) { [self] place in
            let taker = watched(name, place, callback)
            if let implementation = taker.implementation {
                log.note(.init(name: name, subject: subject, place: place, implementation: implementation))
            }
            afterwards(taker)
        }
    }

    /// Makes a callback that stands in for others where the delegate has it. Without it there is no note.
    /// - Parameter alternative: runs where the delegate does not have it.
    public func offer(
        _ name: String, about subject: String? = nil, on queue: DispatchQueue,
        _ callback: @escaping @Sendable () -> Void, otherwise alternative: @escaping @Sendable () -> Void
    ) {
        run(on: queue) { [self] place in
            guard watched(name, place, callback) == .delegate else { return alternative() }
            log.note(.init(name: name, subject: subject, place: place, implementation: .own))
        }
    }

    private func run(on queue: DispatchQueue, _ work: @escaping @Sendable (String) -> Void) {
        if misbehaves(.callsOnOddThreads) {
            Thread.detachNewThread { work("odd thread") }
        } else if misbehaves(.callsOnMainThread) {
            DispatchQueue.main.async { work(DispatchQueue.main.label) }
        } else {
            queue.async { work(queue.label) }
        }
    }

    /// Calls, with a watch that notes a callback which does not return.
    private func watched(_ name: String, _ place: String, _ callback: () -> Void) -> CallbackTaker {
        let rule = place == DispatchQueue.main.label ? RuleViolation.Rule.blockedMainThread : .blockedCallback
        let watch = CallbackWatch(callbackLimit) { [log] in log.note(rule, name) }
        let probe = CallbackProbe()
        StandInStage.$current.withValue(self) { CallbackProbe.$current.withValue(probe, operation: callback) }
        watch.end()
        return probe.taker
    }
}

/// Who took a callback.
public enum CallbackTaker: Sendable, Hashable {
    /// The delegate's own method.
    case delegate
    /// The stand-in's default.
    case standard
    /// Nobody: the delegate is gone.
    case nobody

    var implementation: StandInCallback.Implementation? {
        switch self {
        case .delegate: .own
        case .standard: .standard
        case .nobody: nil
        }
    }
}

/// Tells who took a callback.
///
/// `responds(to:)` needs the Objective-C runtime. On Linux each default says so itself, and a stand-in that has to know
/// whether a delegate has a method calls it and looks.
public final class CallbackProbe: Sendable {
    @TaskLocal static var current: CallbackProbe?

    private let state = Locked(CallbackTaker.delegate)

    var taker: CallbackTaker { state.withLock { $0 } }

    /// To be called by every default of an optional callback.
    public static func noteDefault() { current?.state.withLock { $0 = .standard } }

    /// To be called where the delegate is gone.
    public static func noteNobody() { current?.state.withLock { $0 = .nobody } }
}

/// Says so when something takes longer than it may, in real time.
final class CallbackWatch: Sendable {
    private let isOver = Locked(false)

    init(_ limit: Duration, _ late: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.inSeconds) { [isOver] in
            if !isOver.withLock({ $0 }) { late() }
        }
    }

    func end() { isOver.withLock { $0 = true } }
}
